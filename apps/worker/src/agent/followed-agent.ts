// Follows an attached agent to the end of one run: reads its output line by line, hands each line to its session, commits what
// it means, and concludes. Nothing is said to the agent and nothing is written once the run is let go.
import type { EventDraft } from '#domain';
import { AppError, isAppError, PERMISSION_MODES } from '#kernel';
import { SILENT_COMMIT_MS } from '../commands/commit-bounds.js';
import { endingReason, ProcessStopper } from '../runs/process-stopper.js';
import { DetachedError, type LiveRun } from '../runs/run-driver.port.js';
import type {
  AgentEvent,
  AgentResult,
  AgentSession,
  AgentTranscript,
  LineReading,
  ReplayFilter,
} from './agent-driver.port.js';
import { type AttemptOutcome, promptIdOf, promptTextOf } from './agent-attempts.js';
import { AgentConclusion, type Answer, type Reported, resultEvent } from './agent-conclusion.js';
import type { FollowedAgentParts } from './followed-agent.parts.js';
import { DeltaStream } from './delta-stream.js';
import { LineSplitter, type OutputLine } from './line-splitter.js';
import { OutputCommitter, type CommittedLine } from './output-committer.js';
import { PermissionDesk } from './permission-desk.js';
import { costOfRun } from './run-cost.js';
import { StderrTail } from './stderr-tail.js';

/** Of a conversation that gives its wish back: the prompt's own mode is its wish, not a default. */
const DEFAULT_MODE = 'default';

export class FollowedAgent {
  readonly #splitter = new LineSplitter();
  readonly #stderr = new StderrTail();
  readonly #transcript: AgentTranscript;
  readonly #replay: ReplayFilter;
  readonly #committer: OutputCommitter;
  readonly #deltas: DeltaStream;
  readonly #desk: PermissionDesk;
  readonly #stopper: ProcessStopper;
  /** The line that answers the prompt; it is committed with the end of the run. */
  #answer: Answer | undefined;
  /** What a stopped agent reported before it ended. */
  #lastWords: Reported | undefined;
  #failure: { error: unknown } | undefined;
  #over = false;

  constructor(private readonly parts: FollowedAgentParts) {
    const { context, attached, agent, host } = parts;
    const { runId, projectId } = context.claimed.run;
    const { processId } = attached.process;
    this.#transcript = agent.transcript(promptIdOf(context.claimed.run));
    this.#replay = agent.replayFilter((key) => attached.inputKeys.has(key));
    this.#deltas = new DeltaStream(parts.bus, { projectId, runId, epoch: context.fence.runEpoch }, context.logger);
    this.#committer = this.#makeCommitter();
    this.#desk = new PermissionDesk({
      store: parts.executions,
      questions: parts.questions,
      context,
      processId,
      flush: () => this.#committer.flush(),
      fail: (error) => this.#fail(error),
    });
    host.serve({
      decide: (question, withdrawn) => this.#desk.decide(question, withdrawn),
      failed: (error) => this.#fail(error),
    });
    this.#stopper = new ProcessStopper({
      context,
      process: attached.process,
      exited: attached.output.ended,
      gaveUp: () => attached.output.close(),
      ...(parts.steps === undefined ? {} : { steps: parts.steps }),
    });
  }

  async follow(): Promise<AttemptOutcome> {
    const { context, attached } = this.parts;
    const close = () => attached.output.close();
    context.detached.addEventListener('abort', close, { once: true });
    if (context.detached.aborted) close();
    const beat = setInterval(() => this.#committer.beat(), SILENT_COMMIT_MS);
    let concluded = false;
    try {
      const beginning = this.#begin();
      await this.#read();
      this.#throwIfLetGo();
      await this.#stopper.settled();
      await beginning;
      const outcome = await this.#conclude();
      this.#throwIfLetGo();
      concluded = true;
      return outcome;
    } finally {
      clearInterval(beat);
      context.detached.removeEventListener('abort', close);
      this.#over = true;
      delete context.live;
      this.#stopper.close();
      this.#desk.close();
      close();
      await this.#deltas.end({ keepPartial: !concluded });
      this.#releaseSession(concluded);
    }
  }

  /** Says what this run wants, and shows that the conversation goes on. Failures end the reading. */
  async #begin(): Promise<void> {
    const { context, executions } = this.parts;
    this.#talk().catch((error: unknown) => this.#fail(error));
    try {
      await context.announce(await executions.setSessionStatus(context.fence, 'running'));
    } catch (error) {
      this.#fail(error);
    }
  }

  async #talk(): Promise<void> {
    const { attached, context, plan } = this.parts;
    const { session } = attached;
    if (session === undefined) return;
    if (!attached.promptSent) {
      if (attached.needsSettings) await session.configure({ model: plan.model, permissionMode: plan.permissionMode });
      await session.prompt(promptIdOf(context.claimed.run), promptTextOf(context.claimed));
    }
    if (!this.#over) context.live = this.#steering(session);
  }

  /** Not before the agent has the prompt: there is no turn to interrupt, and one that is held still could not be greeted. */
  #steering(session: AgentSession): LiveRun {
    const { plan } = this.parts;
    let wish: Parameters<AgentSession['configure']>[0] = { model: plan.model, permissionMode: plan.permissionMode };
    return {
      endsOnInterrupt: true,
      interrupt: () => session.interrupt(),
      configure: async ({ model, permissionMode }) => {
        const next = {
          model: model === undefined ? wish.model : (model ?? undefined),
          permissionMode: permissionMode === undefined ? wish.permissionMode : (permissionMode ?? DEFAULT_MODE),
        };
        await session.configure(next);
        wish = next;
      },
    };
  }

  async #read(): Promise<void> {
    for await (const chunk of this.parts.attached.output) {
      if (this.#failure !== undefined || this.parts.context.detached.aborted) return;
      if (chunk.channel === 'stderr') {
        this.#stderr.push(chunk.data);
        continue;
      }
      for (const line of this.#splitter.push(chunk)) {
        await this.#take(line);
        if (this.#answer !== undefined) return;
      }
    }
  }

  async #take(line: OutputLine): Promise<void> {
    const { attached } = this.parts;
    const replayed = line.endOffset <= attached.replayUntil;
    const reading = this.#transcript.read(line.text);
    if (reading.result !== undefined && endingReason(this.parts.context) === undefined) {
      const { result, agentSessionId } = reading;
      this.#answer = { result, costUsd: this.#costOf(result), endOffset: line.endOffset, agentSessionId };
      return;
    }
    this.#showLive(reading, line.endOffset);
    const added = this.#committer.add(this.#committedLine(reading, line.endOffset));
    if (!reading.settled) this.#refuseOverlong();
    if (!replayed || this.#replay.keep(line.text)) attached.session?.deliver(line.text);
    if (reading.openToolUses !== undefined && attached.reattached && !replayed) {
      this.#desk.reconcile(reading.openToolUses).catch((error: unknown) => this.#fail(error));
    }
    await added;
  }

  /** What is not committed cannot be deleted from the spool; when that is full the agent stands still for ever. */
  #refuseOverlong(): void {
    if (this.#committer.heldBytes <= this.parts.maxHeldBytes) return;
    this.#fail(new AppError('sandbox.spool_full', 'A message of the agent is larger than what is kept of its output.'));
  }

  #showLive(reading: LineReading, endOffset: number): void {
    const said = reading.events.some((event) => event.type === 'message.assistant');
    if (said || reading.delta !== undefined) this.parts.context.noteFirstOutput();
    if (reading.delta !== undefined) this.#deltas.push(reading.delta);
    if (reading.blockClosed !== undefined) this.#deltas.close(reading.blockClosed, endOffset);
  }

  #committedLine(reading: LineReading, endOffset: number): CommittedLine {
    const events = reading.events.map((event) => this.#draft(event));
    if (reading.result !== undefined) {
      const costUsd = this.#costOf(reading.result);
      this.#lastWords = { result: reading.result, costUsd };
      events.push(this.#draft(resultEvent(reading.result, costUsd)));
    }
    const { agentSessionId } = reading;
    const permissionMode = this.#changedMode(reading.permissionMode);
    const session = {
      ...(agentSessionId === undefined ? {} : { agentSessionId }),
      ...(permissionMode === undefined ? {} : { permissionMode }),
    };
    const changed = Object.keys(session).length > 0;
    return { endOffset, events, settled: reading.settled, ...(changed ? { session } : {}) };
  }

  /** A mode that a person accepted, or that the agent took with consent, holds for the conversation. */
  #changedMode(mode: string | undefined): string | undefined {
    const { plan, attached } = this.parts;
    if (mode === undefined) return undefined;
    attached.session?.noteMode(mode);
    const known = PERMISSION_MODES.some((one) => one === mode);
    return known && mode !== plan.permissionMode && plan.permissionMode !== 'bypassPermissions' ? mode : undefined;
  }

  /** What the run is finished with. An answer counts, whatever happened to the process after it. */
  async #conclude(): Promise<AttemptOutcome> {
    const conclusion = new AgentConclusion({
      ...this.parts,
      committer: this.#committer,
      draft: (event) => this.#draft(event),
    });
    if (this.#answer !== undefined) return conclusion.answered(this.#answer, this.#staysWarm());
    return conclusion.dead({
      transcript: this.#transcript,
      lastWords: this.#lastWords,
      stderr: this.#stderr,
      halfLine: this.#splitter.rest.trim() !== '',
    });
  }

  #staysWarm(): boolean {
    const { plan, context } = this.parts;
    return this.#answer?.result.processContinues === true && plan.reusable && endingReason(context) === undefined;
  }

  #releaseSession(concluded: boolean): void {
    const { warm, attached } = this.parts;
    const kept = concluded && this.#staysWarm() ? attached.session : undefined;
    if (kept === undefined) attached.session?.close();
    warm.release(attached.process.processId, kept);
  }

  #makeCommitter(): OutputCommitter {
    const { context, attached, executions } = this.parts;
    const { processId, epoch, outOffset } = attached.process;
    return new OutputCommitter({
      store: executions,
      fence: { ...context.fence, processId, processEpoch: epoch },
      fromOffset: outOffset,
      announce: (committed) => context.announce(committed),
      activeMs: () => context.activeTime.elapsedMs(),
      onCommitted: (offset) => {
        this.#deltas.committed(offset);
        context.connection.acknowledge(processId, { offset, epoch }).catch((error: unknown) => this.#fail(error));
      },
      onFailed: (error) => this.#fail(error),
    });
  }

  #costOf(result: AgentResult): number {
    const { attached, context } = this.parts;
    const { totalCostUsd: totalUsd, costSinceLastUsd: sinceLastUsd } = result;
    const report = { totalUsd, ...(sinceLastUsd === undefined ? {} : { sinceLastUsd }) };
    return costOfRun(report, attached.process.costUsd, context.claimed.session?.costUsd ?? 0);
  }

  #draft(event: AgentEvent): EventDraft {
    const { runId, sessionId } = this.parts.context.claimed.run;
    if (sessionId === null) return { ...event, runId };
    const named = event.type === 'session.compacted' ? { session_id: sessionId } : {};
    return { ...event, payload: { ...named, ...event.payload }, runId, sessionId };
  }

  /** The run cannot be followed any more: the reading ends and throws this. The first reason counts. */
  #fail(error: unknown): void {
    if (this.#over || this.#failure !== undefined) return;
    const known = isAppError(error)
      ? error
      : new AppError('agent.protocol', 'The agent could not be spoken to.', { cause: error });
    this.#failure = { error: known };
    this.parts.attached.output.close();
  }

  #throwIfLetGo(): void {
    if (this.parts.context.detached.aborted) throw new DetachedError();
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
