// One run at work under this worker: waits for its turn, claims it, drives it to its end - again after each loss of
// infrastructure - and finishes it. Lets go as soon as another worker may have it.
import type {
  ClaimedRun,
  Committed,
  ControlFence,
  Dispatch,
  IntentRecord,
  RunFence,
  RunOutcome,
  RunRecord,
} from '#domain';
import { type AppError, isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { pause } from '../timing/pause.js';
import { unlessAborted } from '../timing/unless-aborted.js';
import { RunActiveTime } from './active-time.js';
import type { AttachmentParts } from './attachment-parts.js';
import { AnswerBell } from './answer-bell.js';
import { judgeFailure } from './failure-verdict.js';
import { finishRun } from './finish-run.js';
import { HeldSlot } from './held-slot.js';
import { Patience } from './patience.js';
import { endingReason } from './process-stopper.js';
import { RunControls } from './run-controls.js';
import { DetachedError, type Hold, type RunContext, type StopReason } from './run-driver.port.js';
import { RunFacts } from './run-facts.js';
import { type EndingReason, failedOutcome, stoppedOutcome } from './run-outcomes.js';

interface RunEnd {
  claimed: ClaimedRun;
  outcome: RunOutcome;
  /** What the driver worked with last; undefined when the run was ended over an error, or before it started. */
  context?: RunContext;
}

/** One try of the driver. */
interface Drive {
  claimed: ClaimedRun;
  connection: RunContext['connection'];
  activeTime: RunActiveTime;
  facts: RunFacts;
  /** Aborted when the driver has returned: what it still waited for is not wanted any more. */
  driven: AbortSignal;
}

export class RunAttachment {
  /** Resolves when the run is over or was let go. Never rejects. */
  readonly done: Promise<void>;
  private readonly stopper = new AbortController();
  private readonly detacher = new AbortController();
  private readonly bell = new AnswerBell();
  private readonly logger: Logger;
  private readonly slot: HeldSlot;
  private readonly controls: RunControls;
  private activeTime: RunActiveTime | undefined;
  /** Of the newest claim. */
  private fence: ControlFence | undefined;
  /** Once driven, a run's process, offset and epoch must be read anew. */
  private hasMovedOn = false;

  constructor(
    private readonly parts: AttachmentParts,
    readonly dispatch: Dispatch,
  ) {
    this.slot = new HeldSlot(parts.slots);
    this.logger = parts.logger.child({
      run_id: dispatch.runId,
      project_id: dispatch.projectId,
      correlation_id: dispatch.correlationId,
    });
    this.controls = new RunControls({
      store: parts.control,
      slot: this.slot,
      activeTime: () => this.activeTime,
      stop: (reason) => this.stop(reason),
      ringAnswers: () => this.ringAnswers(),
      announce: (committed) => this.announce(committed),
      detached: this.detacher.signal,
      logger: this.logger,
    });
    this.done = this.work()
      .catch((error: unknown) => logError(this.logger, error, { doing: 'run' }))
      .finally(() => {
        this.slot.close();
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

  /** False for an intent of a kind that is not known here. */
  control(intent: IntentRecord): boolean {
    return this.controls.bring(intent);
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
    if (end === undefined) return this.noteActiveTime();
    const run = await finishRun(this.parts, this.logger, { ...end, facts, detached: this.detacher.signal });
    if (run !== undefined && end.context !== undefined) await this.parts.drivers[run.kind].finished?.(end.context, run);
  }

  /** The next worker goes on counting from here; one that has the run already counts for itself. */
  private async noteActiveTime(): Promise<void> {
    const { activeTime, fence } = this;
    if (fence === undefined || activeTime?.hasBegun !== true) return;
    activeTime.suspend();
    try {
      await this.parts.control.noteActiveTime(fence, activeTime.elapsedMs());
    } catch (error) {
      if (!isAppError(error) || error.code !== 'write.fenced')
        logError(this.logger, error, { doing: 'note active time' });
    }
  }

  /** A run that starts waits for a slot; one that is at work already is taken over at once, and counts. */
  private async claimInTurn(): Promise<ClaimedRun | undefined> {
    const run = await this.parts.runs.find(this.dispatch.runId);
    if (run === undefined) return undefined;
    if (run.status === 'dispatched') await this.slot.take(this.stopper.signal);
    if (run.status === 'running') this.slot.takeNow();
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
    const { runId, projectId, epoch: runEpoch } = committed.result.run;
    this.fence = { runId, projectId, runEpoch };
    return committed.result;
  }

  private async driveToEnd(first: ClaimedRun, facts: RunFacts): Promise<RunEnd | undefined> {
    const activeTime = new RunActiveTime(this.parts.clock, first.run.activeMs);
    this.activeTime = activeTime;
    activeTime.onLimit(first.run.timeoutMs, () => this.stop({ kind: 'timeout' }));
    const patience = new Patience(this.parts.bounds, this.parts.clock);
    let claimed = first;
    for (;;) {
      try {
        if (this.hasMovedOn) {
          const next = await this.claim();
          if (next === undefined) return undefined;
          claimed = next;
        }
        return await this.driveOnce(claimed, activeTime, facts);
      } catch (thrown) {
        const verdict = await this.survive(thrown, patience, claimed);
        if (verdict === 'again') continue;
        if (verdict === 'let_go') return undefined;
        const outcome = this.stopped(claimed, activeTime) ?? failedOutcome(verdict, activeTime.elapsedMs());
        // What it had started is not to be trusted any more.
        return { claimed, outcome: { ...outcome, abandonsProcess: true } };
      }
    }
  }

  private async driveOnce(claimed: ClaimedRun, activeTime: RunActiveTime, facts: RunFacts): Promise<RunEnd> {
    if (this.detacher.signal.aborted) throw new DetachedError();
    // A run that was stopped before anything of it was started needs no sandbox.
    const early = claimed.process === null ? this.stopped(claimed, activeTime) : undefined;
    if (early !== undefined) return { claimed, outcome: early };
    // A process that was started must be reached in order to be stopped; before that, nobody waits for a sandbox in vain.
    const givenUp = claimed.process === null ? this.stopper.signal : this.detacher.signal;
    const connecting = () => unlessAborted(givenUp, this.parts.sandboxes.connect(claimed));
    const connection = await facts.timeSandbox(connecting);
    if (connection === undefined) return this.driveOnce(claimed, activeTime, facts);
    this.hasMovedOn = true;
    activeTime.begin(holdsOf(claimed.run));
    const driven = new AbortController();
    const drive = { claimed, connection, activeTime, facts, driven: driven.signal };
    try {
      const context = await this.whenGoingOn(this.contextOf(drive), drive);
      const outcome = await this.parts.drivers[claimed.run.kind].drive(context);
      return { claimed, outcome, context };
    } finally {
      driven.abort();
    }
  }

  /** A run that was paused under an earlier attachment stands still until it is told to go on, or to end: its agent could not even be greeted. */
  private async whenGoingOn(context: RunContext, drive: Drive): Promise<RunContext> {
    this.controls.begin(context, drive.driven);
    if (context.claimed.run.status !== 'paused') return context;
    this.slot.release();
    const run = await this.controls.untilContinued(context);
    if (this.detacher.signal.aborted) throw new DetachedError();
    if (run === undefined) return context;
    const goingOn = this.contextOf({ ...drive, claimed: { ...drive.claimed, run } });
    this.controls.begin(goingOn, drive.driven);
    return goingOn;
  }

  /** What becomes of the run after an error; an error given back is how it ends. Waits before `again`. */
  private async survive(
    thrown: unknown,
    patience: Patience,
    claimed: ClaimedRun,
  ): Promise<'again' | 'let_go' | AppError> {
    const verdict = judgeFailure(thrown, { started: claimed.process !== null });
    if (this.detacher.signal.aborted || verdict.kind === 'let_go') {
      const fencedBy = verdict.kind === 'let_go' ? verdict.fencedBy : undefined;
      if (fencedBy !== undefined) this.parts.metrics.writeFenced(fencedBy);
      this.logger.info({ fenced_by: fencedBy ?? null }, 'run let go');
      return 'let_go';
    }
    this.parts.metrics.errorSeen(verdict.error.code);
    const waitMs = verdict.kind === 'retry' ? patience.next(verdict.error.code) : undefined;
    logError(this.logger, verdict.error, { doing: 'drive', again_in_ms: waitMs ?? null });
    if (verdict.kind === 'fail') return verdict.error;
    if (waitMs === undefined) return verdict.asFailure;
    await pause(waitMs, this.detacher.signal);
    return 'again';
  }

  private stopped(claimed: ClaimedRun, activeTime: RunActiveTime): RunOutcome | undefined {
    const reason = endingReason({ stop: this.stopper.signal });
    return reason === undefined ? undefined : stoppedOutcome(reason, claimed.run, activeTime.elapsedMs());
  }

  private contextOf({ claimed, connection, activeTime, facts, driven }: Drive): RunContext {
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
      releaseSlot: () => this.slot.release(),
      takeSlot: () => this.slot.take(AbortSignal.any([this.stopper.signal, driven])),
      announce: (committed) => this.announce(committed),
      noteFirstOutput: () => facts.noteFirstOutput(),
    };
  }

  private async announce<T>({ result, announcement }: Committed<T>): Promise<T> {
    await this.parts.announcer.announce(announcement);
    this.parts.metrics.eventsCommitted(announcement.events.length);
    return result;
  }
}

/** What a run waits for when it is taken over: its time stands still from the first moment on. */
function holdsOf({ status, waitReason }: RunRecord): Hold[] {
  if (status === 'paused') return ['pause'];
  if (status !== 'waiting' && status !== 'parked') return [];
  return [waitReason === 'usage_limit' ? 'limit' : 'question'];
}
