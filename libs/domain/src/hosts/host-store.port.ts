// Docker engines and who holds them (R4).
export interface HostLease {
  hostId: string;
  holderId: string;
  /** Fencing number: every write of a holder and every connection to a sandbox carries it. */
  epoch: number;
}
export interface HostRecord {
  hostId: string;
  engineId: string;
  epoch: number;
  /** Whether a worker holds the lease now. */
  held: boolean;
  /** Since when its runs are given up because nobody holds it; null for a host without projects, which nobody misses. */
  lostAt: Date | null;
  maxRuns: number;
  /** Folders on the host beneath which projects may be created; the worker's configuration, told with the lease. */
  projectRoots: string[];
}
export interface HostStore {
  /** The host of an engine, created if it is new. Takes the lease when it is free or expired; undefined while another worker holds it. */
  acquire(request: {
    engineId: string;
    holderId: string;
    leaseMs: number;
    maxRuns: number;
    projectRoots: string[];
    /** Facts shown to an operator. */
    info: Record<string, unknown>;
  }): Promise<HostLease | undefined>;
  /** False when the lease is not ours any more. Times are the database's. */
  renew(lease: HostLease, leaseMs: number): Promise<boolean>;
  release(lease: HostLease): Promise<void>;
  list(): Promise<HostRecord[]>;
  find(hostId: string): Promise<HostRecord | undefined>;
  /** Runs of each host by status, and how long the oldest queued one has waited, ms. */
  queueDepth(): Promise<{ hostId: string; status: string; count: number; oldestMs: number }[]>;
}
