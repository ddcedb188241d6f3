// How a claimed run is carried out: one driver for commands, one for each kind of agent. The run processor (run.processor.ts) claims the
// run, wakes the sandbox and finishes it; a driver only starts or attaches, commits output, and says how it ended.
import type { Logger } from '#observability';
import type {
  AgentSetting,
  ClaimedRun,
  Committed,
  HostLease,
  ProcessFence,
  RunFence,
  RunOutcome,
  RunRecord,
  SandboxConnection,
} from '#domain';

export type StopReason =
  /** A person cancelled the run: stop everything it started, outcome `cancelled`. */
  | { kind: 'cancel'; by: string }
  /** A person interrupted it, and it had not begun or did not react: stop everything it started, outcome `interrupted`. */
  | { kind: 'interrupt'; by: string }
  /** Its active time is up: outcome `timed_out`. */
  | { kind: 'timeout' }
  /** The installation goes down for good: outcome `interrupted`. */
  | { kind: 'shutdown' }
  /** This worker hands over or lost its lease: let go, touch nothing, throw DetachedError. */
  | { kind: 'detach' };

/** Thrown by a driver that let go of a run which goes on without it: the run is not finished. */
export class DetachedError extends Error {
  override readonly name = 'DetachedError';
}

/** Why the time of a run stands still: an open question, a pause, a usage limit. It goes on when no reason is left. */
export type Hold = 'question' | 'pause' | 'limit';

export interface ActiveTime {
  /** Waiting for a person and pauses do not count. */
  suspend(hold?: Hold): void;
  resume(hold?: Hold): void;
  elapsedMs(): number;
}

/** How a run at work can be steered. */
export interface LiveRun {
  /** Whether an interrupt is the end of the run: then it is stopped if it does not come to it. */
  readonly endsOnInterrupt: boolean;
  /** Asks the agent to end its turn, or sends INT to the command. */
  interrupt(): Promise<void>;
  /** Changes the agent in the middle of its turn. Rejects with what the agent says against it. */
  configure?(setting: AgentSetting): Promise<void>;
}

export interface RunContext {
  /** Replaced when the run is begun again. */
  claimed: ClaimedRun;
  readonly lease: HostLease;
  readonly fence: RunFence;
  readonly connection: SandboxConnection;
  /** Set by the driver as soon as the store has given it a process: what it may say of it afterwards, and under which epoch. */
  heldProcess?: ProcessFence;
  /** Set by the driver as soon as the run can be steered. */
  live?: LiveRun;
  /** Aborted once, with a StopReason as `reason`. */
  readonly stop: AbortSignal;
  /** Aborted when this worker lets go, also when `stop` had another reason before: a driver that is stopping its process lets go too. */
  readonly detached: AbortSignal;
  readonly activeTime: ActiveTime;
  readonly logger: Logger;
  /** Called when answers to questions of this run may have arrived. Returns the unsubscriber. */
  onAnswers(listener: () => void): () => void;
  /** Gives up the slot of the host's limit while a person is asked, and takes it again. */
  releaseSlot(): void;
  takeSlot(): Promise<void>;
  /** Announces what a store call committed, and gives back its result. */
  announce<T>(committed: Committed<T>): Promise<T>;
  /** For the run's wide log line. */
  noteFirstOutput(): void;
}

export interface RunDriver {
  /**
   * Runs or re-adopts (`claimed.resumed`) to the end. Failures of user code (exit codes, a crashed agent, a timeout) are outcomes.
   * Throws DetachedError, `write.fenced`, `sandbox.epoch_stale` (the processor lets go of the run), or an infrastructure AppError.
   */
  drive(context: RunContext): Promise<RunOutcome>;
  /**
   * After the end of a run that `drive` gave an outcome for is committed: what only served the run may go, e.g. its spool. What is
   * not done here, because the worker dies in between, reconciling does. Errors are logged.
   */
  finished?(context: RunContext, run: RunRecord): Promise<void>;
}
