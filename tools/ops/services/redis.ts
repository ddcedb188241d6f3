// A Redis of our own: append-only, never evicting, on loopback with a random password, run by the supervisor.
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { DataLayout } from '../data-layout.ts';
import { findProgram } from '../host/find-program.ts';
import { poll } from '../host/poll.ts';
import { keepSecret, makePrivateFolder, writePrivate } from '../host/private-file.ts';
import { StepError } from '../step.ts';
import type { ServiceSpec } from '../supervisor/service-spec.ts';

const READY_TIMEOUT_MS = 30_000;

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
