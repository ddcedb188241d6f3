// The real adapters behind a worker's ports: Postgres, Redis and Docker. Each may come later than this process.
import { dirname } from 'node:path';
import type { WorkerConfig } from '#config';
import type { SandboxRuntime } from '#domain';
import { limitReports, type ReportProblem } from '#jobs';
import { type Clock, RUN_STATUSES } from '#kernel';
import { type Logger, logError, type Metrics, type QueueDepth } from '#observability';
import {
  createDatabase,
  type Database,
  instanceId,
  namesOfPendingMigrations,
  PgExecutionStore,
  PgHostStore,
  PgPermissionStore,
  PgProjectStore,
  PgRetentionStore,
  PgRunControl,
  PgRunStore,
  PgSandboxStore,
  PgSpareStore,
  PgUsageStore,
  readMigrations,
} from '#persistence';
import { createDockerSandboxRuntime } from '#sandbox/docker';
import { createRunDrivers } from './run-drivers.js';
import { PATIENCE } from './runs/patience.js';
import type { WorkerParts } from './worker-parts.js';
import { openRedis, type WorkerRedis } from './worker-redis.js';

export interface BackendOptions {
  config: WorkerConfig;
  /** Migrations that this version needs; work begins when they are applied. */
  migrationsDir: string;
  clock: Clock;
  logger: Logger;
  /** Docker, unless a test says otherwise. */
  makeRuntime?: (instance: string) => SandboxRuntime;
}

export interface WorkerBackend {
  pingDatabase(): Promise<void>;
  isRedisReady(): boolean;
  /** Runs by host and status, for the metrics. */
  queueDepth(): Promise<QueueDepth[]>;
  pendingMigrations(): Promise<string[]>;
  /** Throws `service.unavailable` while Postgres is away; then it is called again. */
  connect(metrics: Metrics): Promise<WorkerParts>;
  /** Does not wait for a Redis that does not answer. */
  close(): Promise<void>;
}

const REPORT_INTERVAL_MS = 10_000;
const LEASE_CONNECTIONS = 2;

export function openBackend(options: BackendOptions): WorkerBackend {
  const { config, migrationsDir, logger, clock } = options;
  const db = createDatabase(config.database.url.reveal());
  // The lease is renewed over connections of its own: whoever holds all others, for a sweep or behind a lock, must not cost the host.
  const leases = createDatabase(config.database.url.reveal(), { poolSize: LEASE_CONNECTIONS });
  const redis = openRedis(config.redis.url.reveal(), reporter(logger, clock));
  const migrations = readMigrations(migrationsDir);
  const hosts = new PgHostStore(leases);
  return {
    pingDatabase: () => db.ping(),
    isRedisReady: () => redis.isReady(),
    queueDepth: async () => (await new PgHostStore(db).queueDepth()).flatMap(toDepth),
    pendingMigrations: () => namesOfPendingMigrations(db, migrations),
    connect: async (metrics) => partsOf(options, { db, redis, hosts, metrics, instance: await instanceId(db) }),
    close: async () => {
      await redis.close();
      await Promise.all([db.close(), leases.close()]);
    },
  };
}

interface Connected {
  db: Database;
  redis: WorkerRedis;
  hosts: PgHostStore;
  metrics: Metrics;
  instance: string;
}

function partsOf(options: BackendOptions, { db, redis, hosts, metrics, instance }: Connected): WorkerParts {
  const { config, logger, clock, makeRuntime = dockerRuntime(config, logger) } = options;
  const executions = new PgExecutionStore(db);
  const control = new PgRunControl(db);
  const spares = new PgSpareStore(db);
  const questions = new PgPermissionStore(db);
  const opened = redis.open(instance);
  const { warmAgentIdleMs: idleMs, maxWarmAgents: most, spareAgents, maxConcurrent } = config.runs;
  const claudeVersion = config.sandbox.tools.claudeFile;
  const { bus } = opened;
  const { maxRunBytes: maxOutputBytes } = config.output;
  const warmAgents = { idleMs, most };
  const drivers = {
    executions,
    control,
    spares,
    questions,
    bus,
    claudeVersion,
    warmAgents,
    spareAgents,
    attempts: config.runs.modelRetries,
    spoolBytes: config.sandbox.limits.spoolBytes,
    apiRetries: config.runs.agentApiRetries,
    maxOutputBytes,
    clock,
    logger,
  };
  return {
    settings: {
      image: config.sandbox.image,
      limits: config.sandbox.limits,
      projectRoots: config.projectRoots,
      dataDir: config.dataDir,
      maxRuns: maxConcurrent,
      leaseMs: config.leaseMs,
      reconcileMs: config.reconcileMs,
      parkAfterMs: config.runs.parkAfterMs,
      sandboxIdleMs: config.sandbox.idleMs,
      bounds: PATIENCE,
      retention: {
        outputDays: config.output.retentionDays,
        maxProjectBytes: config.output.maxProjectBytes,
        sweepMs: config.output.sweepMs,
      },
    },
    ...opened,
    runtime: makeRuntime(instance),
    executions,
    control,
    spares,
    sandboxStore: new PgSandboxStore(db),
    runs: new PgRunStore(db),
    projects: new PgProjectStore(db),
    hosts,
    retention: new PgRetentionStore(db),
    makeDrivers: (sandboxes) => createRunDrivers(drivers, sandboxes),
    usage: new PgUsageStore(db),
    clock,
    logger,
    metrics,
  };
}

const dockerRuntime =
  ({ docker, dataDir, sandbox, broker }: WorkerConfig, logger: Logger) =>
  (instance: string): SandboxRuntime =>
    createDockerSandboxRuntime({
      dockerSocket: docker.socketPath,
      instanceId: instance,
      dataDir,
      toolFiles: {
        node: sandbox.tools.nodeFile,
        claude: sandbox.tools.claudeFile,
        sandboxd: sandbox.tools.sandboxdFile,
      },
      brokerSocketDir: dirname(broker.socketPath),
      logger,
    });

const reporter = (logger: Logger, clock: Clock): ReportProblem =>
  limitReports(
    ({ operation, error, repeated, context }) =>
      logError(logger, error, { operation, ...(repeated === undefined ? {} : { repeated }), ...context }),
    REPORT_INTERVAL_MS,
    () => clock.monotonicMs(),
  );

type HostQueueDepth = Awaited<ReturnType<PgHostStore['queueDepth']>>[number];

function toDepth({ hostId, status, count, oldestMs }: HostQueueDepth): QueueDepth[] {
  const state = RUN_STATUSES.find((known) => known === status);
  return state === undefined ? [] : [{ hostId, state, count, oldestSeconds: oldestMs / 1_000 }];
}
