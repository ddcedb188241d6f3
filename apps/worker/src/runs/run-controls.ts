// What people ask of one run while it is at work: interrupt, pause, go on, change the agent. Each is carried out and recorded under the
// run's fence; what cannot be done yet stays open and is brought again each second (R5).
import type { Committed, ControlFence, IntentRecord, RunControlStore, RunRecord } from '#domain';
import { isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { pause } from '../timing/pause.js';
import type { RunActiveTime } from './active-time.js';
import type { HeldSlot } from './held-slot.js';
import { agentSetting } from './agent-setting.js';
import { signalTree } from './process-signals.js';
import type { LiveRun, RunContext } from './run-driver.port.js';
import { writeInput } from './run-input.js';
import type { EndingReason } from './run-outcomes.js';

export interface RunControlsParts {
  store: RunControlStore;
  slot: Pick<HeldSlot, 'take' | 'takeNow' | 'release'>;
  activeTime(): RunActiveTime | undefined;
  stop(reason: EndingReason): void;
  /** Questions may be answered by now, or may be asked again. */
  ringAnswers(): void;
  announce<T>(committed: Committed<T>): Promise<T>;
  /** Aborted when this worker lets go. */
  detached: AbortSignal;
  logger: Logger;
  /** How long an agent may take to end its turn, ms. */
  interruptMs?: number;
}

/** What a run is driven with, and until when. */
interface Driven {
  context: RunContext;
  over: AbortSignal;
}

const INTERRUPT_MS = 10_000;
const RETRY_MS = 250;
const LOOK_MS = 1_000;

export class RunControls {
  private driven: Driven | undefined;
  /** Intents that are being carried out. */
  private readonly taken = new Set<string>();
  private writing = false;
  private turns: Promise<void> = Promise.resolve();
  private continued: ((run: RunRecord) => void) | undefined;

  constructor(private readonly parts: RunControlsParts) {}

  /** From now on the run can be steered. */
  begin(context: RunContext, over: AbortSignal): void {
    this.driven = { context, over };
    over.addEventListener('abort', () => (this.driven = undefined), { once: true });
  }

  /** False for kinds that this version does not know: another one may. */
  bring(intent: IntentRecord): boolean {
    switch (intent.kind) {
      case 'answer':
        this.carryOut(intent, () => this.hearAnswer(intent));
        return true;
      case 'interrupt':
        this.carryOut(intent, () => this.interrupt(intent));
        return true;
      case 'pause':
        this.inTurn(intent, () => this.pause(intent));
        return true;
      case 'resume':
        this.inTurn(intent, () => this.resume(intent));
        return true;
      case 'setting':
        this.inTurn(intent, () => this.change(intent));
        return true;
      case 'stdin':
        this.nudgeInput(intent);
        return true;
      default:
        return false;
    }
  }

  /** Resolves with the run when it goes on; undefined when it is stopped or let go, or its process has ended. Throws when the sandbox is away. */
  async untilContinued({ stop, detached, connection, claimed }: RunContext): Promise<RunRecord | undefined> {
    const going = new AbortController();
    let run: RunRecord | undefined;
    this.continued = (continued) => {
      run = continued;
      going.abort();
    };
    const over = AbortSignal.any([stop, detached, going.signal]);
    const { process } = claimed;
    const hasEnded = async () => process === null || (await isOver(connection, process.processId));
    while (!over.aborted && !(await hasEnded())) await pause(LOOK_MS, over);
    this.continued = undefined;
    return run;
  }

  /** All that waits is written at once: the intent only says that there is something. */
  private nudgeInput(intent: IntentRecord): void {
    const { driven } = this;
    if (driven?.context.live === undefined || this.writing) return;
    this.writing = true;
    this.carryOut(intent, () =>
      writeInput(this.parts.store, driven.context, driven.over).finally(() => (this.writing = false)),
    );
  }

  private inTurn(intent: IntentRecord, work: () => Promise<void>): void {
    this.carryOut(intent, () => {
      const turn = this.turns.then(work);
      this.turns = turn.catch(() => undefined);
      return turn;
    });
  }

  private carryOut({ intentId, kind }: IntentRecord, work: () => Promise<void>): void {
    if (this.taken.has(intentId)) return;
    this.taken.add(intentId);
    void work()
      .catch((error: unknown) => logError(this.parts.logger, error, { doing: kind }))
      .finally(() => this.taken.delete(intentId));
  }

  /** The answer itself is in its question: whoever drives the run later reads it there. */
  private async hearAnswer({ intentId }: IntentRecord): Promise<void> {
    this.parts.ringAnswers();
    if (this.driven !== undefined) await this.record(this.driven, intentId);
  }

  private async interrupt({ intentId, createdBy: by }: IntentRecord): Promise<void> {
    const { driven } = this;
    if (driven === undefined) return this.interruptBeforeStart(by);
    await this.letGoOn(driven);
    const { live } = driven.context;
    if (live === undefined) return;
    if (!live.endsOnInterrupt) {
      await live.interrupt();
      return this.record(driven, intentId);
    }
    // The end of the run closes the intent, so that a successor knows of it until then.
    this.ask(live);
    await pause(this.parts.interruptMs ?? INTERRUPT_MS, driven.over);
    if (!driven.over.aborted) this.parts.stop({ kind: 'interrupt', by });
  }

  private ask(live: LiveRun): void {
    live.interrupt().catch((error: unknown) => logError(this.parts.logger, error, { doing: 'interrupt' }));
  }

  /** Nothing of it has started, or it is being reached again: in the second case there is a time of work already. */
  private interruptBeforeStart(by: string): void {
    if (this.parts.activeTime()?.hasBegun !== true) this.parts.stop({ kind: 'interrupt', by });
  }

  private async pause({ intentId }: IntentRecord): Promise<void> {
    const { driven } = this;
    const activeTime = this.parts.activeTime();
    if (driven?.context.live === undefined || activeTime === undefined) return;
    if (!(await signalTree(driven.context, 'SIGSTOP'))) return;
    activeTime.suspend('pause');
    const paused = await this.commit(driven, () =>
      this.parts.store.pauseRun(fenceOf(driven), intentId, activeTime.elapsedMs()),
    );
    if (paused === true) return this.parts.slot.release();
    await signalTree(driven.context, 'SIGCONT');
    activeTime.resume('pause');
  }

  private async resume({ intentId }: IntentRecord): Promise<void> {
    const { driven } = this;
    if (driven === undefined) return;
    await this.parts.slot.take(AbortSignal.any([driven.over, driven.context.stop]));
    if (driven.over.aborted || driven.context.stop.aborted) return;
    await this.goOn(driven, intentId);
  }

  /** An agent that is held still can neither hear nor answer. */
  private async letGoOn(driven: Driven): Promise<void> {
    if (this.parts.activeTime()?.heldBy('pause') !== true) return;
    this.parts.slot.takeNow();
    await this.goOn(driven);
  }

  private async goOn(driven: Driven, intentId?: string): Promise<void> {
    await signalTree(driven.context, 'SIGCONT');
    const run = await this.commit(driven, () => this.parts.store.continueRun(fenceOf(driven), intentId));
    if (run === undefined) return;
    this.parts.activeTime()?.resume('pause');
    if (run.status !== 'running') this.parts.slot.release();
    this.continued?.(run);
    this.parts.ringAnswers();
  }

  private async change({ intentId, payload }: IntentRecord): Promise<void> {
    const { driven } = this;
    const { live } = driven?.context ?? {};
    if (driven === undefined || live === undefined || this.parts.activeTime()?.heldBy('pause') === true) return;
    try {
      await live.configure?.(agentSetting(payload));
    } catch (error) {
      if (driven.over.aborted) return;
      // The agent said no, and would say it again; the next prompt is started with it.
      logError(this.parts.logger, error, { doing: 'setting' });
    }
    await this.record(driven, intentId);
  }

  private async record(driven: Driven, intentId: string): Promise<void> {
    const { store } = this.parts;
    await this.again(driven, async () => store.applyIntent(fenceOf(driven), intentId).then(() => true));
  }

  private async commit<T>(driven: Driven, write: () => Promise<Committed<T>>): Promise<T | undefined> {
    const committed = await this.again(driven, write);
    return committed === undefined ? undefined : this.parts.announce(committed);
  }

  /** While Postgres is away it is tried again: the effect is there already. Undefined when the run was let go meanwhile. */
  private async again<T>({ over }: Driven, write: () => Promise<T>): Promise<T | undefined> {
    const ended = AbortSignal.any([over, this.parts.detached]);
    while (!ended.aborted) {
      try {
        return await write();
      } catch (error) {
        if (!isAppError(error) || !error.retryable) throw error;
        await pause(RETRY_MS, ended);
      }
    }
    return undefined;
  }
}

const fenceOf = ({ context: { fence, claimed } }: Driven): ControlFence => ({
  ...fence,
  projectId: claimed.run.projectId,
});

/** Also when nobody knows of the process any more: whoever drives the run finds out what became of it. */
async function isOver(connection: RunContext['connection'], processId: string): Promise<boolean> {
  try {
    return (await connection.info(processId)).exit !== null;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox.process_not_found') return true;
    throw error;
  }
}
