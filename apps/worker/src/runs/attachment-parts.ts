// What every attachment of a run works with, for as long as this worker holds the host.
import type {
  Announcer,
  ClaimedRun,
  ExecutionStore,
  HostLease,
  LiveBus,
  RunControlStore,
  RunStore,
  SandboxConnection,
} from '#domain';
import type { Clock, RunKind } from '#kernel';
import type { Logger, Metrics } from '#observability';
import type { PatienceBounds } from './patience.js';
import type { RunDriver } from './run-driver.port.js';
import type { RunSlots } from './run-slots.js';

export interface SandboxAccess {
  /** The sandbox of a run, started if need be, and this worker's connection to it. */
  connect(claimed: ClaimedRun): Promise<SandboxConnection>;
}

export interface AttachmentParts {
  lease: HostLease;
  executions: ExecutionStore;
  control: RunControlStore;
  runs: Pick<RunStore, 'find'>;
  announcer: Announcer;
  bus: Pick<LiveBus, 'publish'>;
  sandboxes: SandboxAccess;
  drivers: Record<RunKind, RunDriver>;
  slots: RunSlots;
  bounds: PatienceBounds;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}
