// Runs one command to its end: starts or re-adopts its process, commits its output, stops it when told to.
import type {
  ExecutionStore,
  LiveBus,
  OutputCommit,
  ProcessExit,
  RunControlStore,
  RunOutcome,
  RunRecord,
} from '#domain';
import { AppError, type Clock, systemClock } from '#kernel';
import { endingReason, ProcessStopper } from '../runs/process-stopper.js';
import { signalTree } from '../runs/process-signals.js';
import { DetachedError, type RunContext, type RunDriver } from '../runs/run-driver.port.js';
import { failedOutcome, stoppedOutcome } from '../runs/run-outcomes.js';
import type { StopSteps } from '../runs/stop-ladder.js';
import { commandOutcome, diedOfInterrupt, sandboxLost } from './command-outcome.js';
import { attachCommand, type AttachedCommand, DeadProcessError } from './command-process.js';
import { SILENT_COMMIT_MS } from './commit-bounds.js';
import { OutputCommitter } from './output-committer.js';

export interface CommandDriverParts {
  executions: Pick<ExecutionStore, 'beginProcess' | 'adoptProcess' | 'processLive' | 'commitOutput' | 'processEnded'>;
  control: Pick<RunControlStore, 'wasAsked'>;
  bus: Pick<LiveBus, 'publish'>;
  /** Most bytes of a run's output that are kept, unless its project says otherwise. */
  maxOutputBytes: number;
  steps?: StopSteps;
  clock?: Clock;
}

export class CommandRunDriver implements RunDriver {
  constructor(private readonly parts: CommandDriverParts) {}

  async drive(context: RunContext): Promise<RunOutcome> {
    try {
      return await this.follow(context, await attachCommand(this.parts.executions, context));
    } catch (error) {
      if (!(error instanceof DeadProcessError)) throw error;
      const activeMs = context.activeTime.elapsedMs();
      const reason = endingReason(context);
      if (reason !== undefined) return stoppedOutcome(reason, context.claimed.run, activeMs);
      return failedOutcome(sandboxLost(), activeMs);
    }
  }

  /** Its process and its spool have served; with processes left behind it stays, so that those are known (R13). */
  async finished(context: RunContext, { errorCode, exitCode, exitSignal }: RunRecord): Promise<void> {
    const { connection, lease, heldProcess } = context;
    if (heldProcess === undefined) return;
    const { processId, processEpoch } = heldProcess;
    const state = errorCode === 'sandbox.lost' ? 'lost' : 'exited';
    await this.parts.executions.processEnded(processId, { state, exitCode, exitSignal }, { processEpoch, lease });
    const known = (await connection.list()).find((info) => info.processId === processId);
    if (known?.state !== 'exited' || (known.descendants ?? 0) > 0) return;
    await connection.forget(processId, { epoch: known.epoch });
  }

  private async follow(context: RunContext, { process, output, runStart }: AttachedCommand): Promise<RunOutcome> {
    // Closing the output ends the iteration below; `ended` then stays pending, or says nothing new.
    const close = () => output.close();
    output.ended.catch(() => undefined);
    const committer = this.committerOf(context, { process, output, runStart });
    const stopper = new ProcessStopper({
      context,
      process,
      exited: output.ended,
      gaveUp: close,
      ...(this.parts.steps === undefined ? {} : { steps: this.parts.steps }),
    });
    context.live = {
      endsOnInterrupt: false,
      interrupt: async () => {
        await signalTree(context, 'SIGINT');
      },
    };
    const beat = setInterval(() => committer.beat(), SILENT_COMMIT_MS);
    context.detached.addEventListener('abort', close, { once: true });
    try {
      for await (const chunk of output) {
        context.noteFirstOutput();
        await committer.push(chunk);
        if (context.detached.aborted) break;
      }
      committer.throwIfFailed();
      if (context.detached.aborted) throw new DetachedError();
      await stopper.settled();
      return await this.outcomeOf(context, { process, output, runStart }, await committer.last());
    } finally {
      delete context.live;
      clearInterval(beat);
      context.detached.removeEventListener('abort', close);
      stopper.close();
      output.close();
      await committer.close();
    }
  }

  private committerOf(context: RunContext, { process, output, runStart }: AttachedCommand): OutputCommitter {
    const { processId, epoch } = process;
    const { projectId, runId } = context.claimed.run;
    return new OutputCommitter({
      fence: { ...context.fence, processId, processEpoch: epoch },
      fromOffset: process.outOffset,
      runStart,
      maxOutputBytes: context.claimed.project.settings.maxOutputBytes ?? this.parts.maxOutputBytes,
      activeMs: () => context.activeTime.elapsedMs(),
      clock: this.parts.clock ?? systemClock,
      failed: () => output.close(),
      commit: async (commit) => {
        await context.announce(await this.parts.executions.commitOutput(commit));
        if (commit.chunks.length === 0) return;
        const headOffset = commit.toOffset - runStart;
        this.parts.bus.publish(projectId, { kind: 'output', output: { projectId, runId, headOffset, ended: false } });
        await context.connection.acknowledge(processId, { offset: commit.toOffset, epoch });
      },
    });
  }

  private async outcomeOf(
    context: RunContext,
    { process, runStart }: AttachedCommand,
    lastOutput: OutputCommit,
  ): Promise<RunOutcome> {
    const { run } = context.claimed;
    const stopped = endingReason(context);
    const info = await context.connection.info(process.processId);
    const activeMs = context.activeTime.elapsedMs();
    // Still running: it survived KILL, and its run does not wait for it. Otherwise all output was read, so it has exited.
    if (info.exit === null && stopped === undefined) {
      throw new AppError('sandbox.connection_lost', 'The output of a running command came to an end.');
    }
    const exit = info.exit ?? { code: null, signal: null, outOfMemory: false };
    const durationMs = info.exitedAtMs === null ? activeMs : Math.max(0, info.exitedAtMs - info.startedAtMs);
    const endOffset = lastOutput.toOffset - runStart;
    const interrupted = await this.wasInterrupted(context, exit);
    return { ...commandOutcome({ run, exit, stopped, interrupted, activeMs, durationMs, endOffset }), lastOutput };
  }

  /** Also under an earlier worker. */
  private async wasInterrupted({ claimed }: RunContext, exit: ProcessExit): Promise<boolean> {
    return diedOfInterrupt(exit) && this.parts.control.wasAsked(claimed.run.runId, 'interrupt');
  }
}
