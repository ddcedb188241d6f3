// The sandbox as the rest of Gantry sees it: one hardened container per project, whose supervisor (sandboxd) owns the processes
// and their output. Adapters: libs/sandbox/docker (real) and libs/sandbox/fake; both pass the same contract suite.
import type { StreamChannel } from '#kernel';

export interface SandboxLimits {
  memoryBytes: number;
  /** CPUs, fractions allowed. */
  cpus: number;
  pids: number;
  /** Size of the tmpfs at /tmp; it counts against `memoryBytes`. */
  tmpBytes: number;
  /** Most bytes of one process's spool that may be unacknowledged before its output pipe is no longer read (R10). */
  spoolBytes: number;
}

export interface SandboxSpec {
  sandboxId: string;
  projectId: string;
  image: string;
  /** Folder on the host that is mounted at /workspace. It must exist. */
  workspacePath: string;
  /** Owner of the workspace: jobs run as this user (R21). Never 0. */
  uid: number;
  gid: number;
  limits: SandboxLimits;
  /** Extra container labels, e.g. the correlation id of the run that woke it. */
  labels?: Record<string, string>;
}

export interface EngineInfo {
  /** Stable id of the Docker engine; the key of a host. */
  engineId: string;
  version: string;
  cpus: number;
  memoryBytes: number;
  liveRestore: boolean;
}

export interface SandboxSummary {
  sandboxId: string;
  projectId: string;
  containerId: string;
  state: 'running' | 'stopped';
}

export type KillScope = 'group' | 'session' | 'tree';
export type ProcessSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGHUP';

export interface StartProcess {
  /** Starting is idempotent by this id (R8). */
  processId: string;
  /** argv[0] is looked up on the job's PATH. No shell is involved. */
  argv: string[];
  /** Absolute path inside the sandbox. */
  cwd: string;
  env: Record<string, string>;
  /** `pipe`: keyed input is accepted until `closeInput`. `null`: stdin is /dev/null. */
  stdin: 'pipe' | 'null';
  /** Fencing number of this attachment; a lower one than sandboxd has seen for the process is refused (R4). */
  epoch: number;
}

export interface ProcessExit {
  /** Exit code, or null when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** The kernel's out-of-memory killer ended this job or one of its children. */
  outOfMemory: boolean;
  /** Why it could not be started at all (errno name), e.g. ENOENT. */
  spawnError?: string;
  /** What `spawnError` is about: the working directory, or the program. */
  spawnErrorAt?: 'cwd' | 'program';
  /** The sandbox ended before the end of this process was seen: neither code nor signal is known. */
  lost?: true;
}

export interface ProcessInfo {
  processId: string;
  /** Pid inside the sandbox; null when it could not be started. */
  pid: number | null;
  state: 'running' | 'exited';
  exit: ProcessExit | null;
  /** Bytes of output spooled so far, both channels together. */
  headOffset: number;
  /** First byte still in the spool; everything below was acknowledged and deleted. */
  tailOffset: number;
  /** Keys of the input accepted so far, in order (R8); only the newest 1,000 are kept. */
  inputKeys: string[];
  epoch: number;
  startedAtMs: number;
  exitedAtMs: number | null;
  /** Live processes that it started, itself not counted; those of an exited one are left behind in the sandbox (R13). */
  descendants?: number;
  /** Boot of the supervisor that started it. Another one than the connection's: the container was restarted since. */
  bootId?: string;
}

/** Consecutive bytes of one channel. `offset` counts payload bytes of both channels together, so their order is kept (R9). */
export interface SpoolChunk {
  offset: number;
  channel: StreamChannel;
  data: Uint8Array;
}

/** Output of one process from an offset on. Iterating pulls: a reader that stops reading is not buffered for without bound. */
export interface ProcessOutput extends AsyncIterable<SpoolChunk> {
  /** Resolves when the process has ended and every byte was yielded; rejects with `sandbox.connection_lost` or `sandbox.epoch_stale`. */
  readonly ended: Promise<ProcessExit>;
  /** Stop reading; iteration ends, `ended` stays pending. */
  close(): void;
}

/** One connection of one worker to one sandbox's supervisor. A newer host epoch elsewhere closes it (R4). */
export interface SandboxConnection {
  readonly sandboxId: string;
  /** Changes when the container was restarted, so that processes of before are gone. */
  readonly bootId: string;
  /** Resolves once, with the reason, when the connection is over. */
  readonly closed: Promise<{ code: 'sandbox.connection_lost' | 'sandbox.epoch_stale' | 'closed' }>;
  start(request: StartProcess): Promise<ProcessInfo & { existed: boolean }>;
  info(processId: string): Promise<ProcessInfo>;
  list(): Promise<ProcessInfo[]>;
  /** Output from `fromOffset` (not below the tail: `stream.offset_invalid`). Raises the process's epoch. */
  attach(processId: string, options: { fromOffset: number; epoch: number }): Promise<ProcessOutput>;
  /**
   * Writes to stdin, whole or not at all. A repeated key is a no-op (R8), so a caller that does not know whether it wrote may
   * write again. Errors: `sandbox.input_closed`, `sandbox.input_full` (the process does not read; try again later).
   */
  input(processId: string, options: { key: string; data: Uint8Array; epoch: number }): Promise<{ duplicate: boolean }>;
  closeInput(processId: string, options: { epoch: number }): Promise<void>;
  /** `group`: the process group; `session`: every process of its session; `tree`: everything it started, double-forked children too (R13). */
  signal(
    processId: string,
    options: { signal: ProcessSignal; scope: KillScope; epoch: number },
  ): Promise<{ delivered: number }>;
  /** Says that output below `offset` is committed elsewhere; sandboxd may delete it (R10). */
  acknowledge(processId: string, options: { offset: number; epoch: number }): Promise<void>;
  /** Drops an exited process and its spool. Unknown ids are ignored; one that runs is `sandbox.process_running`. */
  forget(processId: string, options: { epoch: number }): Promise<void>;
  /** What the out-of-memory killer did in this container since it started. */
  memoryStatus(): Promise<{ oomKills: number; usedBytes: number }>;
  close(): void;
}

/**
 * Containers of one Docker engine that belong to one Gantry instance (R19): others are neither listed nor touched.
 * Errors: `host.engine_unreachable`, `sandbox.image_missing`, `sandbox.image_unsupported`, `sandbox.start_failed`, `sandbox.lost`.
 */
export interface SandboxRuntime {
  engine(): Promise<EngineInfo>;
  /** Proves that the engine sees this process's paths: a throw-away container reads a nonce and connects to a socket (R20). Throws `host.paths_not_shared`. */
  provePaths(image: string): Promise<void>;
  /** Removes what proofs and looks at images left behind because their worker was killed. Younger ones may be in use by another worker. */
  removeLeftovers(options: { olderThanMs: number }): Promise<void>;
  /** Creates or starts the container and waits until its supervisor answers. Idempotent; safe to call at once from several places. */
  ensure(spec: SandboxSpec): Promise<SandboxSummary>;
  list(): Promise<SandboxSummary[]>;
  /** A worker's connection. `hostEpoch` is the lease's number: sandboxd drops connections with a lower one. Throws `sandbox.lost` if it does not run. */
  connect(sandboxId: string, options: { hostEpoch: number }): Promise<SandboxConnection>;
  stop(sandboxId: string): Promise<void>;
  /** Removes the container; with `data` also its HOME volume and spools. The workspace is never touched. Unknown ids are ignored. */
  remove(sandboxId: string, options: { data: boolean }): Promise<void>;
}
