// The one way to make a Redis client: it works when Redis is down at start, reconnects for ever and never throws unhandled.
import { Redis, type RedisOptions } from 'ioredis';
import type { ReportProblem } from './report-problem.port.js';

/**
 * `commands`: fails at once while Redis is away, so that nobody waits on it. `subscriber`: the same, for RedisSubscriber.
 * `queue`: BullMQ's workers, whose blocking commands wait until Redis is back.
 */
export type RedisRole = 'commands' | 'subscriber' | 'queue';

export interface RedisClientOptions {
  /** Shown in Redis's client list, e.g. `worker`. */
  name: string;
  role: RedisRole;
  report: ReportProblem;
}

const COMMAND_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_STEP_MS = 100;
const RETRY_MAX_MS = 1_000;

const FAIL_FAST: RedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT_MS,
};
const BY_ROLE: Record<RedisRole, RedisOptions> = {
  commands: FAIL_FAST,
  // RedisSubscriber restores its channels itself, so that it knows when they stand again.
  subscriber: { ...FAIL_FAST, autoResubscribe: false },
  queue: { maxRetriesPerRequest: null },
};

export const isRedisReady = (client: Redis): boolean => client.status === 'ready';

/** Starts to connect and gives the client at once. One problem is reported per outage. */
export function createRedis(url: string, { name, role, report }: RedisClientOptions): Redis {
  const client = new Redis(url, {
    ...BY_ROLE[role],
    connectionName: `gantry-${name}-${role}`,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(attempt * RETRY_STEP_MS, RETRY_MAX_MS),
  });
  let away = false;
  client.on('error', (error: unknown) => {
    if (away) return;
    away = true;
    report({ operation: 'redis.connection', error, context: { connection: `${name}-${role}` } });
  });
  client.on('ready', () => {
    away = false;
  });
  return client;
}
