// Brings a followed agent's run to its end: what is left to commit, what runs for nobody any more, and the outcome.
import type { EventDraft, ProcessExit, ProcessRecord, RunOutcome } from '#domain';
import { AppError } from '#kernel';
import { endingReason } from '../runs/process-stopper.js';
import { stoppedOutcome } from '../runs/run-outcomes.js';
import { STOP_STEPS, stopProcess } from '../runs/stop-ladder.js';
import type { AttemptOutcome } from './agent-attempts.js';
import type { AgentEvent, AgentResult, AgentTranscript } from './agent-driver.port.js';
import { deadOutcome, resultOutcome } from './agent-outcome.js';
import type { FollowedAgentParts } from './followed-agent.parts.js';
import type { OutputCommitter } from './output-committer.js';
import type { StderrTail } from './stderr-tail.js';

export interface ConclusionParts extends FollowedAgentParts {
  committer: OutputCommitter;
  draft: (event: AgentEvent) => EventDraft;
}

export interface Reported {
  result: AgentResult;
  costUsd: number;
}

export interface Answer extends Reported {
  /** Where its line ends. */
  endOffset: number;
  /** The conversation's id, if only now it is worth resuming. */
  agentSessionId: string | undefined;
}

export interface DeadEnd {
  transcript: AgentTranscript;
  /** What a stopped agent reported before it ended. */
  lastWords: Reported | undefined;
  stderr: StderrTail;
  halfLine: boolean;
}

export const resultEvent = (result: AgentResult, costUsd: number): AgentEvent => ({
  type: 'message.result',
  payload: { ...result.payload, cost_usd: costUsd },
});

/** The process ended before it took the prompt: another may be given it. */
export class PromptNotTakenError extends Error {
  override readonly name = 'PromptNotTakenError';

  constructor(
    readonly process: ProcessRecord,
    readonly exit: ProcessExit,
  ) {
    super('The agent ended before it took the prompt.');
  }
}

const UNKNOWN_EXIT: ProcessExit = { code: null, signal: null, outOfMemory: false };

export class AgentConclusion {
  constructor(private readonly parts: ConclusionParts) {}

  /** The prompt was answered. The answer is committed by whoever finishes the run, so that it cannot be lost in between. */
  async answered({ result, costUsd, endOffset, agentSessionId }: Answer, staysWarm: boolean): Promise<AttemptOutcome> {
    const { attached, context, committer, warm, draft } = this.parts;
    await committer.flush();
    const events = [draft(resultEvent(result, costUsd))];
    const session = agentSessionId === undefined ? {} : { session: { agentSessionId } };
    const total = result.processContinues ? result.totalCostUsd : undefined;
    const lastOutput = committer.last({ endOffset, events, ...session }, total);
    if (!staysWarm) {
      await warm.end(context.connection, { ...attached.process, outOffset: committer.committedOffset });
    }
    const outcome = resultOutcome(result, { costUsd, activeMs: context.activeTime.elapsedMs() });
    return { ...outcome, lastOutput, ...(result.again === undefined ? {} : { again: result.again }) };
  }

  /** The process ended without an answer: by itself, or because the run was stopped. */
  async dead({ transcript, lastWords, stderr, halfLine }: DeadEnd): Promise<RunOutcome> {
    const { attached, context, committer, draft } = this.parts;
    const stopped = endingReason(context);
    const exit = await this.#exit();
    if (exit === null && stopped === undefined) {
      throw new AppError('sandbox.connection_lost', 'The output of a running agent came to an end.');
    }
    // An agent that ended by itself, however it was asked to, has written its conversation down.
    const agentSessionId = exit?.code === null ? undefined : transcript.agentSessionId;
    const known = stopped === undefined || agentSessionId === undefined ? undefined : { agentSessionId };
    committer.releaseAll(transcript.abandon().map(draft), known);
    await committer.flush();
    if (stopped === undefined) await this.#sweepLeftovers();
    if (exit !== null && stopped === undefined && this.#tookNothing(exit, transcript)) {
      throw new PromptNotTakenError(attached.process, exit);
    }
    const activeMs = context.activeTime.elapsedMs();
    if (stopped !== undefined) {
      return { ...stoppedOutcome(stopped, context.claimed.run, activeMs), sessionStatus: 'paused', ...used(lastWords) };
    }
    const shown = stderr.text(attached.token === undefined ? [] : [attached.token]);
    const refusedOptions = transcript.refusedOptions(shown);
    return deadOutcome({ exit: exit ?? UNKNOWN_EXIT, stderr: shown, halfLine, refusedOptions, activeMs });
  }

  /** A warm agent that was ending already when this run came. Only who has read all of its output can tell. */
  #tookNothing(exit: ProcessExit, transcript: AgentTranscript): boolean {
    const { attached, context } = this.parts;
    const readFromTheStart = context.claimed.process === null;
    return readFromTheStart && attached.needsSettings && exit.lost !== true && !transcript.promptTaken;
  }

  /** Null while it runs. A process of an earlier boot went with its container, however its last moment was recorded. */
  async #exit(): Promise<ProcessExit | null> {
    const { connection } = this.parts.context;
    const { exit, bootId } = await connection.info(this.parts.attached.process.processId);
    const gone = bootId !== undefined && bootId !== connection.bootId;
    return exit !== null && gone && !exit.outOfMemory ? { ...exit, lost: true } : exit;
  }

  /** What a crashed agent had started runs for nobody. */
  async #sweepLeftovers(): Promise<void> {
    const { attached, context, steps = STOP_STEPS } = this.parts;
    const { processId, epoch } = attached.process;
    await stopProcess({ connection: context.connection, processId, epoch, exited: Promise.resolve() }, steps);
  }
}

function used(reported: Reported | undefined): Pick<RunOutcome, 'costUsd' | 'usage'> {
  if (reported === undefined) return {};
  const { result, costUsd } = reported;
  return { costUsd, ...(result.usage === undefined ? {} : { usage: result.usage }) };
}
