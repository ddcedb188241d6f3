// The real adapters behind the gateway's ports: Postgres and Redis. Both may come later than this process.
import type { GatewayConfig } from '#config';
import {
  BullRunQueue,
  createRedis,
  isRedisReady,
  limitReports,
  RedisAnnouncer,
  RedisHostClient,
  redisKeys,
  RedisLiveBus,
  RedisSubscriber,
  type ReportProblem,
} from '#jobs';
import { isFinal, type LostHostStore, type Usage } from '#domain';
import { type Clock, RUN_STATUSES, type RunStatus, systemClock } from '#kernel';
import { type Logger, logError, type QueueDepth } from '#observability';
import {
  createDatabase,
  type Database,
  instanceId,
  namesOfPendingMigrations,
  PgEventStore,
  PgHostStore,
  PgLostHostStore,
  PgOutputStore,
  PgPermissionStore,
  PgProjectStore,
  PgRunControl,
  PgRunStore,
  PgSessionStore,
  PgTokenStore,
  PgUsageStore,
  purgeKeys,
  readMigrations,
} from '#persistence';
import type { ReadinessProbes } from './health/readiness.js';
import type { GatewayPorts } from './ports.js';

type HostQueueDepth = Awaited<ReturnType<PgHostStore['queueDepth']>>[number];

export interface GatewayBackend {
  probes: ReadinessProbes;
  /** Runs by host and status, for the metrics. */
  queueDepth(): Promise<QueueDepth[]>;
  /** What the database holds, for the metrics. */
  usage(): Promise<Usage>;
  /** Removes idempotency keys that are too old to count; gives back how many. */
  purgeKeys(): Promise<number>;
  lostHosts: LostHostStore;
  /** Throws `service.unavailable` while Postgres is away; then it is called again. */
  connect(): Promise<GatewayPorts>;
  /** Never waits for a Redis that does not answer. */
  close(): Promise<void>;
}

const REPORT_INTERVAL_MS = 10_000;

/** Starts to connect and gives the backend at once. */
export function openBackend(
  config: Pick<GatewayConfig, 'database' | 'redis' | 'idempotencyTtlMs'>,
  { migrationsDir, logger, clock = systemClock }: { migrationsDir: string; logger: Logger; clock?: Clock },
): GatewayBackend {
  const report = limitReports(
    ({ operation, error, repeated, context }) =>
      logError(logger, error, { operation, ...(repeated === undefined ? {} : { repeated }), ...context }),
    REPORT_INTERVAL_MS,
    () => clock.monotonicMs(),
  );
  const db = createDatabase(config.database.url.reveal());
  const migrations = readMigrations(migrationsDir);
  const hosts = new PgHostStore(db);
  const redis = openRedis(config.redis.url.reveal(), report);
  return {
    probes: {
      pingDatabase: () => db.ping(),
      pendingMigrations: () => namesOfPendingMigrations(db, migrations),
      isRedisReady: () => isRedisReady(redis.commands) && isRedisReady(redis.subscriber),
    },
    queueDepth: async () => (await hosts.queueDepth()).map(toDepth),
    usage: () => new PgUsageStore(db).read(),
    purgeKeys: () => purgeKeys(db, config.idempotencyTtlMs),
    lostHosts: new PgLostHostStore(db),
    connect: async () => ({ ...storesOf(db, config.idempotencyTtlMs), hosts, ...redis.open(await instanceId(db)) }),
    close: async () => {
      await redis.close();
      await db.close();
    },
  };
}

const toDepth = ({ hostId, status, count, oldestMs }: HostQueueDepth): QueueDepth => ({
  hostId,
  state: RUN_STATUSES.find((known) => known === status && !isFinal(known)) ?? ('queued' satisfies RunStatus),
  count,
  oldestSeconds: oldestMs / 1_000,
});

const storesOf = (db: Database, keyTtlMs: number) => ({
  projects: new PgProjectStore(db, keyTtlMs),
  runs: new PgRunStore(db, keyTtlMs),
  control: new PgRunControl(db),
  sessions: new PgSessionStore(db, keyTtlMs),
  events: new PgEventStore(db),
  outputs: new PgOutputStore(db),
  permissions: new PgPermissionStore(db),
  tokens: new PgTokenStore(db),
  usage: new PgUsageStore(db),
});

function openRedis(url: string, report: ReportProblem) {
  const commands = createRedis(url, { name: 'gateway', role: 'commands', report });
  const subscriber = createRedis(url, { name: 'gateway', role: 'subscriber', report });
  const closers: (() => Promise<void>)[] = [];
  return {
    commands,
    subscriber,
    /** Keys carry the instance id, which is in Postgres (R19). */
    open(instance: string): Pick<GatewayPorts, 'bus' | 'announcer' | 'hostClient'> {
      const keys = redisKeys(instance);
      const channels = new RedisSubscriber(subscriber, report);
      const bus = new RedisLiveBus({ redis: commands, subscriber: channels, keys, report });
      const queue = new BullRunQueue(commands, keys, report);
      const hostClient = new RedisHostClient({ redis: commands, subscriber: channels, keys });
      closers.push(
        () => hostClient.close(),
        () => queue.close(),
      );
      return { bus, announcer: new RedisAnnouncer({ queue, bus, report }), hostClient };
    },
    async close(): Promise<void> {
      if (isRedisReady(commands)) await Promise.all(closers.map((close) => close()));
      commands.disconnect();
      subscriber.disconnect();
    },
  };
}
