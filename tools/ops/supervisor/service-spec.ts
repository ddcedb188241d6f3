// What the supervisor is told about a service, and what it tells about one.
import { createHash } from 'node:crypto';
import type { ProcessIdentity } from '../host/process-identity.ts';

export interface ServiceSpec {
  name: string;
  /** Program and arguments. Arguments are visible to every user of the machine: no secret may be among them. */
  argv: string[];
  /** The whole environment of the process; nothing is inherited. */
  env: Record<string, string>;
  cwd: string;
  /** User and group to run as; the supervisor's own when absent. */
  owner?: { uid: number; gid: number };
  stopSignal: 'SIGTERM' | 'SIGINT';
  /** After this long the process's group is killed. */
  stopTimeoutMs: number;
  /**
   * A unix socket that a new process takes over from an old one by renaming its own over it. Then a change starts the new process first, and
   * the old one is told to stop when the socket is another one: it finishes what it has in its own time.
   */
  takesOver?: string;
  /** Identifies the program's code, so that a new build is a new spec. */
  version: string;
}

/** How a process is asked to stop, and how long it may take before its group is killed. */
export interface StopRequest {
  signal: NodeJS.Signals;
  timeoutMs: number;
}

/** `waiting`: it died and is started again after a pause. `failed`: it died too often and is left alone until asked for. */
export type ServiceState = 'running' | 'waiting' | 'failed' | 'stopping' | 'stopped';

export interface ServiceStatus {
  name: string;
  state: ServiceState;
  pid: number | null;
  /** When the present process started, ms since the epoch. */
  sinceMs: number | null;
  /** How often it was started again because it died. */
  restarts: number;
  /** How the last process ended, e.g. `code 1` or `SIGKILL`; null before the first end. */
  lastExit: string | null;
}

/** What is kept on disk about a running service, so that the next supervisor finds it. */
export interface ServiceRecord {
  identity: ProcessIdentity;
  fingerprint: string;
  sinceMs: number;
  restarts: number;
  /** How the process wants to be stopped: the next supervisor may have to, without its spec. Absent in records of an earlier version. */
  stop?: StopRequest;
  /** Processes that a newer one took over from and that still finish what they had. Absent in records of an earlier version. */
  retiring?: ProcessIdentity[];
}

/** Equal for equal specs. It is a hash, because specs hold secrets and this is written to disk. */
export const fingerprintOf = (spec: ServiceSpec): string =>
  createHash('sha256').update(JSON.stringify(spec)).digest('hex');
