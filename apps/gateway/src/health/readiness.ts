// What the gateway needs before it may get traffic.
import { AppError } from '#kernel';
import type { HealthRegistry } from '#observability';

export const POSTGRES_CHECK = 'postgres';

export interface ReadinessProbes {
  /** Throws `service.unavailable` when Postgres does not answer. */
  pingDatabase(): Promise<void>;
  /** Names of migrations that this build has and the database has not. */
  pendingMigrations(): Promise<string[]>;
  isRedisReady(): boolean;
}

export function registerReadiness(health: HealthRegistry, probes: ReadinessProbes): void {
  health.register({ name: POSTGRES_CHECK, scope: 'readiness', run: () => probes.pingDatabase() });
  health.register({
    name: 'migrations',
    scope: 'readiness',
    run: async () => {
      const pending = await probes.pendingMigrations();
      if (pending.length > 0) {
        throw new AppError('service.unavailable', 'The database lacks migrations of this version.', {
          details: { pending },
        });
      }
    },
  });
  health.register({
    name: 'redis',
    scope: 'readiness',
    run: async () => {
      if (!probes.isRedisReady()) throw new AppError('service.unavailable', 'Redis cannot be reached.');
    },
  });
}
