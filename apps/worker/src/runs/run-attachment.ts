// One run at work under this worker: waits for its turn, claims it, drives it to its end - again after each loss of
// infrastructure - and finishes it. Lets go as soon as another worker may have it.
import type { ClaimedRun, Dispatch, RunFence, RunOutcome } from '#domain';
import { logError, type Logger } from '#observability';
import { pause } from '../timing/pause.js';
import { RunActiveTime } from './active-time.js';
import type { AttachmentParts } from './attachment-parts.js';
import { AnswerBell } from './answer-bell.js';
import { type FailureVerdict, judgeFailure } from './failure-verdict.js';
import { finishRun } from './finish-run.js';
import { Patience } from './patience.js';
import type { RunContext, StopReason } from './run-driver.port.js';
import { RunFacts } from './run-facts.js';
import { type EndingReason, failedOutcome, stoppedOutcome } from './run-outcomes.js';
import type { RunSlot } from './run-slots.js';

interface RunEnd {
  claimed: ClaimedRun;
  outcome: RunOutcome;
  /** What the driver worked with last; undefined when the run was ended over an error, or before it started. */
  context?: RunContext;
  /** It was ended over an error: what it had started is not to be trusted any more. */
  broken: boolean;
}

export class RunAttachment {
  /** Resolves when the run is over or was let go. Never rejects. */
  readonly done: Promise<void>;
  private readonly stopper = new AbortController();
  private readonly detacher = new AbortController();
  private readonly bell = new AnswerBell();
  private readonly logger: Logger;
  private slot: RunSlot | undefined;
  private activeTime: RunActiveTime | undefined;

  constructor(
    private readonly parts: AttachmentParts,
    readonly dispatch: Dispatch,
  ) {
    this.logger = parts.logger.child({
      run_id: dispatch.runId,
      project_id: dispatch.projectId,
      correlation_id: dispatch.correlationId,
    });
    this.done = this.work()
      .catch((error: unknown) => logError(this.logger, error, { doing: 'run' }))
      .finally(() => {
        this.releaseSlot();
        this.activeTime?.close();
      });
  }

  /** The first reason wins. */
  stop(reason: EndingReason): void {
    if (!this.stopper.signal.aborted) this.stopper.abort(reason);
  }

  /** Lets go at once; the run goes on in its sandbox. */
  detach(): void {
    this.detacher.abort();
    if (!this.stopper.signal.aborted) this.stopper.abort({ kind: 'detach' } satisfies StopReason);
  }

  /** Answers to this run's questions may have come. */
  ringAnswers(): void {
    this.bell.ring();
  }

  /** A person is being asked, or the run is paused. */
  get waitsForPeople(): boolean {
    return this.activeTime?.suspended === true;
  }

  private async work(): Promise<void> {
    const first = await this.claimInTurn();
    if (first === undefined) return;
    const facts = new RunFacts(first, this.parts.clock);
    const end = await this.driveToEnd(first, facts);
    if (end === undefined) return;
    const run = await finishRun(this.parts, this.logger, { ...end, facts, detached: this.detacher.signal });
    if (run !== undefined && end.context !== undefined) await this.parts.drivers[run.kind].finished?.(end.context, run);
  }

  /** A run that starts waits for a slot; one that is at work already is taken over at once, and counts. */
  private async claimInTurn(): Promise<ClaimedRun | undefined> {
    const run = await this.parts.runs.find(this.dispatch.runId);
    if (run === undefined) return undefined;
    if (run.status === 'dispatched') this.slot = await this.parts.slots.take(this.stopper.signal);
    if (run.status === 'running') this.slot = this.parts.slots.takeNow();
    if (this.detacher.signal.aborted) return undefined;
    return this.claim();
  }

  private async claim(): Promise<ClaimedRun | undefined> {
    const committed = await this.parts.executions.claim(this.dispatch, this.parts.lease);
    if (committed === undefined) {
      this.logger.debug('a delivery of a run that is over or was dispatched anew');
      return undefined;
    }
    await this.parts.announcer.announce(committed.announcement);
    return committed.result;
  }

  private async driveToEnd(first: ClaimedRun, facts: RunFacts): Promise<RunEnd | undefined> {
    const activeTime = new RunActiveTime(this.parts.clock, first.run.activeMs);
    this.activeTime = activeTime;
    activeTime.onLimit(first.run.timeoutMs, () => this.stop({ kind: 'timeout' }));
    const patience = new Patience(this.parts.bounds, this.parts.clock);
    let claimed: ClaimedRun | undefined = first;
    let driven = false;
    while (claimed !== undefined) {
      try {
        // What was driven has moved on: its process and offset are read anew, under a new epoch.
        if (driven) claimed = await this.claim();
        if (claimed === undefined) return undefined;
        const known: ClaimedRun = claimed;
        const early = this.endBeforeStart(known, activeTime);
        if (early !== undefined) return { claimed: known, outcome: early, broken: false };
        const connection = await facts.timeSandbox(() => this.parts.sandboxes.connect(known));
        driven = true;
        activeTime.resume();
        const context = this.contextOf(known, connection, activeTime, facts);
        const outcome = await this.parts.drivers[known.run.kind].drive(context);
        return { claimed: known, outcome, context, broken: false };
      } catch (thrown) {
        const error = await this.survive(thrown, patience);
        if (error === undefined) return undefined;
        if (error !== 'again') {
          const outcome = this.stoppedBy(claimed ?? first, activeTime) ?? failedOutcome(error, activeTime.elapsedMs());
          return { claimed: claimed ?? first, outcome, broken: true };
        }
      }
    }
    return undefined;
  }

  /** Undefined: let go. An error: that is how the run ends. */
  private async survive(thrown: unknown, patience: Patience) {
    const verdict = judgeFailure(thrown);
    if (this.detacher.signal.aborted || verdict.kind === 'let_go') {
      this.noteLetGo(verdict);
      return undefined;
    }
    if (verdict.kind === 'fail') {
      logError(this.logger, verdict.error, { doing: 'drive' });
      return verdict.error;
    }
    const waitMs = patience.next(verdict.error.code);
    logError(this.logger, verdict.error, { doing: 'drive', again_in_ms: waitMs ?? null });
    if (waitMs === undefined) return verdict.asFailure;
    await pause(waitMs, this.detacher.signal);
    return this.detacher.signal.aborted ? undefined : ('again' as const);
  }

  private noteLetGo(verdict: FailureVerdict): void {
    if (verdict.kind === 'let_go' && verdict.fencedBy !== undefined) this.parts.metrics.writeFenced(verdict.fencedBy);
    this.logger.info({ fenced_by: verdict.kind === 'let_go' ? (verdict.fencedBy ?? null) : null }, 'run let go');
  }

  /** A run that was stopped before anything of it was started needs no sandbox. */
  private endBeforeStart(claimed: ClaimedRun, activeTime: RunActiveTime): RunOutcome | undefined {
    return claimed.process === null && claimed.warmProcess === null ? this.stoppedBy(claimed, activeTime) : undefined;
  }

  private stoppedBy(claimed: ClaimedRun, activeTime: RunActiveTime): RunOutcome | undefined {
    const reason = this.stopper.signal.reason as StopReason | undefined;
    if (reason === undefined || reason.kind === 'detach') return undefined;
    return stoppedOutcome(reason, claimed.run, activeTime.elapsedMs());
  }

  private contextOf(
    claimed: ClaimedRun,
    connection: RunContext['connection'],
    activeTime: RunActiveTime,
    facts: RunFacts,
  ): RunContext {
    const fence: RunFence = { runId: claimed.run.runId, runEpoch: claimed.run.epoch };
    return {
      claimed,
      lease: this.parts.lease,
      fence,
      connection,
      stop: this.stopper.signal,
      detached: this.detacher.signal,
      activeTime,
      logger: this.logger,
      onAnswers: (listener) => this.bell.listen(listener),
      releaseSlot: () => this.releaseSlot(),
      takeSlot: async () => {
        this.slot ??= await this.parts.slots.take(this.stopper.signal);
      },
      announce: async (committed) => {
        await this.parts.announcer.announce(committed.announcement);
        this.parts.metrics.eventsCommitted(committed.announcement.events.length);
        return committed.result;
      },
      noteFirstOutput: () => facts.noteFirstOutput(),
    };
  }

  private releaseSlot(): void {
    this.slot?.release();
    this.slot = undefined;
  }
}
