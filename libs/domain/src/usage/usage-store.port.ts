// What the installation holds and does at a moment: for metrics, for `stats`, and for warnings before a disk is full.
import type { ProjectState, RunStatus } from '#kernel';
import type { HostLease } from '../hosts/host-store.port.js';

/** Free space of a disk that Gantry writes to. `disk` is what lies on it: `data`, or `projects` and a number when there are several. */
export interface DiskSpace {
  disk: string;
  freeBytes: number;
  totalBytes: number;
}

/** What a worker measures of its machine. */
export interface HostLoad {
  /** Of all processors together, 0 to 100. */
  cpuPercent: number;
  memoryUsedBytes: number;
  memoryTotalBytes: number;
  disks: DiskSpace[];
}

export interface HostUsage {
  hostId: string;
  held: boolean;
  lostAt: Date | null;
  maxRuns: number;
  /** Undefined until a worker told it. */
  load: HostLoad | undefined;
}

export interface QueueUsage {
  hostId: string;
  state: RunStatus;
  count: number;
  /** Since when the oldest of them was queued, ms. */
  oldestMs: number;
}

export interface Usage {
  projectStates: Partial<Record<ProjectState, number>>;
  /** Conversations with a run that has begun and is not over. */
  activeSessions: number;
  queues: QueueUsage[];
  hosts: HostUsage[];
  databaseBytes: number;
  /** Stored output of commands. */
  outputBytes: number;
  events: number;
}

export interface UsageStore {
  /** In one query, whose cost follows projects, hosts and unfinished runs, not history. */
  read(): Promise<Usage>;
  /** What a holder measured; nothing when the lease is not its own any more. */
  reportLoad(lease: HostLease, load: HostLoad): Promise<void>;
}
