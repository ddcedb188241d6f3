// The worker's side of a run: claiming, committing output and events with their offset, finishing. Every write is fenced (R4):
// with an old epoch it changes nothing and throws `write.fenced`.
import type { FinalRunStatus, IntentKind, ProcessKind, RunStatus, SessionStatus, StreamChannel } from '#kernel';
import type { Announcement, Committed, Dispatch } from '../events/committed.js';
import type { EventDraft } from '../events/event-record.js';
import type { HostLease } from '../hosts/host-store.port.js';
import type { PermissionAnswer, PermissionRecord } from '../permissions/permission-record.js';
import type { ProjectRecord } from '../projects/project-record.js';
import type { SessionRecord } from '../sessions/session-record.js';
import type { RunRecord } from './run-record.js';

export interface ProcessRecord {
  processId: string;
  projectId: string;
  sandboxId: string;
  sessionId: string | null;
  kind: ProcessKind;
  state: 'starting' | 'live' | 'exited' | 'lost';
  fingerprint: string;
  bootId: string | null;
  epoch: number;
  outOffset: number;
  costUsd: number;
  startedAt: Date;
  lastUsedAt: Date;
}

export interface ClaimedRun {
  run: RunRecord;
  project: ProjectRecord;
  session: SessionRecord | null;
  sandboxId: string;
  /** The process that this run was using when it was claimed before; null on a first claim. */
  process: ProcessRecord | null;
  /** A live warm agent process of the session, for a first claim of a prompt. */
  warmProcess: ProcessRecord | null;
  /** True when the run had started before: attach, do not start. */
  resumed: boolean;
}

/** Who writes: numbers that the store compares with the rows. */
export interface RunFence {
  runId: string;
  runEpoch: number;
}
export interface ProcessFence {
  processId: string;
  processEpoch: number;
}

/** Who says that a process is over: the epoch under which it knows the process, and the lease under which it works. */
export interface ProcessEndGuard {
  processEpoch: number;
  lease: HostLease;
}

export interface OutputCommit extends RunFence, ProcessFence {
  /** Must equal the process's committed offset. */
  fromOffset: number;
  toOffset: number;
  /** Output of a command; offsets relative to the run. */
  chunks: { offset: number; channel: StreamChannel; data: Uint8Array }[];
  /** Most bytes of the run's output that are kept: its first and its last half. All of it when absent. */
  maxOutputBytes?: number;
  events: EventDraft[];
  /** Active time so far, ms. */
  activeMs: number;
  session?: { agentSessionId?: string; model?: string; permissionMode?: string };
  /** The agent's running total after this output. */
  processCostUsd?: number;
}

export interface RunOutcome {
  status: FinalRunStatus;
  exitCode?: number;
  exitSignal?: string;
  /** `details` go into run.finished: facts safe to show, e.g. the masked end of a crashed agent's stderr. */
  error?: { code: string; message: string; details?: Record<string, unknown> };
  resultText?: string;
  usage?: Record<string, unknown>;
  costUsd?: number;
  activeMs: number;
  endOffset?: number;
  sessionStatus?: SessionStatus;
  /** Appended before run.finished, e.g. command.finished. */
  events?: EventDraft[];
  /**
   * The output that ends the run (an agent's result), committed in the transaction that finishes it and before `events`. So a
   * successor finds the run over or reads that output again; an offset past a result that nobody took would leave it waiting for ever.
   */
  lastOutput?: OutputCommit;
  /** The run's process, if it has one, is nobody's from now on: `lost` in the transaction that finishes the run. Reconciling kills it. */
  abandonsProcess?: boolean;
}

/** The work of a run is to be begun again, inside it. */
export interface Attempt {
  /** What ends the attempt before. */
  output: OutputCommit;
  /** What the attempt before has cost, US dollars. */
  costUsd: number;
  error: { code: string; message: string };
  resumeAt: Date;
  /** The run waits until then; without it only its agent does. */
  waitReason?: 'usage_limit';
  /** Else it is refused once a tool has run. */
  evenAfterTools: boolean;
}
export interface BegunAttempt {
  run: RunRecord;
  process: ProcessRecord | null;
  session: SessionRecord | null;
}

export interface NewProcess {
  processId: string;
  sandboxId: string;
  sessionId: string | null;
  kind: ProcessKind;
  fingerprint: string;
  /** SHA-256 (hex) of the token in its environment; null for commands. */
  tokenHash: string | null;
  /** Boot of the sandbox in which it is about to start: a successor in another boot knows that it is gone and starts nothing twice. */
  bootId?: string;
}

export interface NewPermissionRequest extends RunFence {
  requestId: string;
  processId: string;
  toolUseId: string;
  toolName: string;
  input: Record<string, unknown>;
  inputHash: string;
  suggestions: unknown[];
}

export interface IntentRecord {
  intentId: string;
  runId: string;
  kind: IntentKind;
  payload: Record<string, unknown>;
  createdBy: string;
}

export interface ExecutionStore {
  /**
   * Takes a dispatched run for this holder, or takes over one that an earlier holder was running: raises its epoch, sets it
   * running, appends run.started (and project.state). Undefined when the job is stale: the run is over or was dispatched anew.
   * Throws `host.lease_lost`.
   */
  claim(job: { runId: string; dispatchNo: number }, lease: HostLease): Promise<Committed<ClaimedRun> | undefined>;
  /** Registers a new process for the run, state `starting`, epoch 1, output from 0. */
  beginProcess(fence: RunFence, process: NewProcess): Promise<ProcessRecord>;
  /** Gives the run a live process (a warm agent, or its own on re-adoption): raises the process's epoch. A new run starts at the committed offset. */
  adoptProcess(fence: RunFence, processId: string): Promise<{ process: ProcessRecord; startOffset: number }>;
  processLive(fence: ProcessFence, facts: { pid: number | null; bootId: string }): Promise<void>;
  /** Output, events and the new offset in one transaction (R: exactly-once ingestion). */
  commitOutput(commit: OutputCommit): Promise<Committed<void>>;
  /** Appends events of a run that come from no output, e.g. sandbox.started. */
  appendEvents(fence: RunFence, events: EventDraft[]): Promise<Committed<void>>;
  /**
   * Idempotent by (process, tool use). One that the project's rules answer comes back answered and the run goes on; else the run goes to
   * `waiting`, if it was running. An answered one comes back with its answer.
   */
  openPermission(request: NewPermissionRequest): Promise<Committed<PermissionRecord>>;
  /** Open questions of the run that the agent withdrew are closed as `cancelled`. */
  cancelPermission(fence: RunFence, requestId: string): Promise<Committed<void>>;
  /** waiting -> running when no question is open; true if it is running now. False for a parked run: it takes its lane back first; and for a paused one. */
  resumeRun(fence: RunFence): Promise<Committed<boolean>>;
  /** Raises the run's attempts and says until when it waits; undefined when a tool has run and that forbids it. */
  beginAttempt(fence: RunFence, attempt: Attempt): Promise<Committed<BegunAttempt | undefined>>;
  /** The wait of an attempt is over: the run is `running`, and what it waited for is forgotten. */
  continueAttempt(fence: RunFence): Promise<Committed<RunRecord>>;
  setSessionStatus(fence: RunFence, status: SessionStatus): Promise<Committed<void>>;
  /** Ends the run, closes its open questions, promotes the lane, sets the project's state: one transaction. */
  finish(fence: RunFence, outcome: RunOutcome): Promise<Committed<RunRecord>>;
  /**
   * Throws `write.fenced`, and changes nothing, unless the process has this epoch and the lease of its host is held and has not run
   * out by the database's clock: a worker that was frozen may have read fresh rows since it lost the lease. A process that is over
   * already, or gone with its project, is left as it is, whoever asks.
   */
  processEnded(
    processId: string,
    facts: { state: 'exited' | 'lost'; exitCode?: number | null; exitSignal?: string | null },
    guard: ProcessEndGuard,
  ): Promise<void>;
  /** The newest running total known for the process. */
  processCost(processId: string): Promise<number>;
  /** Processes of the host that are starting or live; of one sandbox, if it is given. */
  liveProcesses(hostId: string, sandboxId?: string): Promise<ProcessRecord[]>;
  /** Live agents that no unfinished run uses, the one idle for longest first (R7). */
  idleAgents(hostId: string): Promise<ProcessRecord[]>;
  sandboxStarted(sandboxId: string, facts: { containerId: string; bootId: string; image: string }): Promise<void>;

  /** Those of these runs that are not applied yet, oldest first; of one run at most the oldest 100, so that it cannot hide another's. */
  openIntents(runIds: readonly string[]): Promise<IntentRecord[]>;
  /** The answer of a question, once given; a question whose time was up is refused. */
  answerOf(requestId: string): Promise<PermissionAnswer | undefined>;
  /** Whether answers have to wait: the run has left its lane to others, or a person holds it still. */
  isParked(runId: string): Promise<boolean>;
  /**
   * Closes the questions of the host's runs whose time is up as `expired`, and parks the runs that wait for a person for longer than
   * their project allows (`parkAfterMs` where it says nothing; 0: never).
   */
  closeOverdue(hostId: string, defaults: { parkAfterMs: number }): Promise<Announcement[]>;

  /** Runs of the host that are dispatched, running, waiting, paused or parked, with the dispatch they belong to (R3). */
  activeRuns(hostId: string, projectId?: string): Promise<(Dispatch & { status: RunStatus; epoch: number })[]>;
  /** Promotes every free lane of the host in which a run could go on or begin (R3). */
  promoteFreeLanes(hostId: string): Promise<Announcement[]>;
}
