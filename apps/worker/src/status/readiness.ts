// What a worker needs in order to be of use, as /readyz shows it.
import { AppError } from '#kernel';
import type { HealthRegistry } from '#observability';

export interface WorkerProbes {
  pingDatabase(): Promise<void>;
  isRedisReady(): boolean;
  /** Throws `host.engine_unreachable`, `host.paths_not_shared`. */
  checkEngine(): Promise<void>;
  /** Throws when the worker is neither holder nor standby of its host. */
  checkHost(): void;
}

export function registerReadiness(health: HealthRegistry, probes: WorkerProbes): void {
  health.register({ name: 'postgres', scope: 'readiness', run: () => probes.pingDatabase() });
  health.register({
    name: 'redis',
    scope: 'readiness',
    cacheMs: 0,
    run: async () => {
      if (!probes.isRedisReady()) throw new AppError('service.unavailable', 'Redis cannot be reached.');
    },
  });
  health.register({ name: 'engine', scope: 'readiness', deadlineMs: 5_000, run: () => probes.checkEngine() });
  health.register({ name: 'host', scope: 'readiness', cacheMs: 0, run: async () => probes.checkHost() });
}
