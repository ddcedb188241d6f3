// What a worker is made of, apart from the lease: the ports that its composition (worker-app.ts) binds to adapters.
import type {
  Announcer,
  ExecutionStore,
  HostLease,
  HostServer,
  HostStore,
  LiveBus,
  ProjectRecord,
  ProjectStore,
  RetentionLimits,
  RetentionStore,
  RunControlStore,
  RunStore,
  SandboxConnection,
  SandboxLimits,
  SandboxRuntime,
  SandboxStore,
  SpareStore,
  UsageStore,
} from '#domain';
import type { BullRunQueue, RunJobProcessor, RunWorker } from '#jobs';
import type { Clock, RunKind } from '#kernel';
import type { Logger, Metrics } from '#observability';
import type { PatienceBounds } from './runs/patience.js';
import type { RunDriver } from './runs/run-driver.port.js';

export interface WorkerSettings {
  /** Image of projects that name none. */
  image: string;
  limits: SandboxLimits;
  projectRoots: string[];
  dataDir: string;
  maxRuns: number;
  leaseMs: number;
  reconcileMs: number;
  /** After so long a run that waits for a person leaves its lane to others, where its project says nothing; 0: never. */
  parkAfterMs: number;
  sandboxIdleMs: number;
  bounds: PatienceBounds;
  retention: RetentionLimits & { sweepMs: number };
}

/** The drivers of one holding of the host, and what they keep between runs. */
export interface RunDrivers {
  byKind: Record<RunKind, RunDriver>;
  /** Repeated while the host is held: ends what was kept for too long. */
  sweep(lease: HostLease): Promise<void>;
  /** Makes ready what the next prompt of the project needs. Never rejects. */
  wake(project: ProjectRecord, lease: HostLease): Promise<void>;
  close(): void;
}

/** What drivers may use of the sandboxes beyond the connection of their run. */
export interface RunningSandboxes {
  connectionTo(sandboxId: string): Promise<SandboxConnection | undefined>;
  /** Started if it does not run. */
  connectProject(project: ProjectRecord, sandboxId: string): Promise<SandboxConnection>;
}

export interface WorkerParts {
  settings: WorkerSettings;
  runtime: SandboxRuntime;
  executions: ExecutionStore;
  control: RunControlStore;
  spares: SpareStore;
  sandboxStore: SandboxStore;
  runs: Pick<RunStore, 'find'>;
  projects: Pick<ProjectStore, 'find' | 'existing' | 'listDeleting' | 'finishDelete'>;
  hosts: HostStore;
  retention: RetentionStore;
  announcer: Announcer;
  usage: Pick<UsageStore, 'reportLoad'>;
  bus: LiveBus;
  hostServer: HostServer;
  queue: Pick<BullRunQueue, 'dispatch' | 'jobIds' | 'drop'>;
  takeJobs(hostId: string, process: RunJobProcessor): RunWorker;
  makeDrivers(sandboxes: RunningSandboxes): RunDrivers;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}
