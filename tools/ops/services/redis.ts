// A Redis of our own: append-only, never evicting, on loopback with a random password, run by the supervisor.
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { DataLayout } from '../data-layout.ts';
import { findProgram } from '../host/find-program.ts';
import { poll } from '../host/poll.ts';
import { keepSecret, makePrivateFolder, writePrivate } from '../host/private-file.ts';
import { StepError, type Say } from '../step.ts';
import type { ServiceSpec } from '../supervisor/service-spec.ts';

const READY_TIMEOUT_MS = 30_000;
const GIVEN_TIMEOUT_MS = 5_000;

/** redis-server, or Valkey's, which is the same to us. */
export const findRedisServer = (): string | undefined => findProgram('redis-server', 'valkey-server');

/** The configuration's text. BullMQ needs `noeviction`; the file is private because it holds the password. */
export function redisConfiguration(folder: string, port: number, password: string): string {
  const settings: [string, string | number][] = [
    ['bind', '127.0.0.1'],
    ['port', port],
    ['protected-mode', 'yes'],
    ['requirepass', password],
    ['dir', JSON.stringify(folder)],
    ['appendonly', 'yes'],
    ['appendfsync', 'everysec'],
    ['maxmemory-policy', 'noeviction'],
    ['save', '""'],
    ['daemonize', 'no'],
  ];
  return settings.map(([name, value]) => `${name} ${value}\n`).join('');
}

export function prepareRedis(layout: DataLayout, program: string, port: number): { spec: ServiceSpec; url: string } {
  const password = keepSecret(join(layout.secrets, 'redis-password'));
  makePrivateFolder(layout.redis);
  const file = join(layout.redis, 'redis.conf');
  writePrivate(file, redisConfiguration(layout.redis, port, password));
  return {
    spec: {
      name: 'redis',
      argv: [program, file],
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' },
      cwd: layout.redis,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 15_000,
      version: String(port), // the configuration file is not part of the command line
    },
    url: `redis://:${password}@127.0.0.1:${port}/0`,
  };
}

/** A Redis of the user's must be there already. Gives its URL. */
export async function checkGivenRedis(url: string, say: Say): Promise<string> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: GIVEN_TIMEOUT_MS, retryStrategy: () => null });
  let reason = 'it does not answer';
  client.on('error', (error) => (reason = error.message));
  try {
    await client.connect();
    const memory = await client.info('memory');
    if (!memory.includes('maxmemory_policy:noeviction'))
      say('REDIS_URL: it may evict keys; set maxmemory-policy noeviction');
    return url;
  } catch (error) {
    throw new StepError(
      `The Redis that REDIS_URL names cannot be used: ${reason}`,
      'Start it, or unset REDIS_URL to use one of our own.',
      error,
    );
  } finally {
    client.disconnect();
  }
}

/** Waits until the server answers and has loaded its data. */
export async function awaitRedis(url: string, logFile: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let lastError: unknown;
  client.on('error', (error) => (lastError = error));
  try {
    const ready = await poll(READY_TIMEOUT_MS, async () => {
      try {
        if (client.status === 'wait' || client.status === 'end') await client.connect();
        await client.ping(); // refused while it loads its data
        return true;
      } catch (error) {
        lastError = error;
        return false;
      }
    });
    if (ready) return;
  } finally {
    client.disconnect();
  }
  const reason = lastError instanceof Error ? lastError.message : String(lastError);
  throw new StepError(`Redis does not answer: ${reason}`, `Read ${logFile}.`, lastError);
}
