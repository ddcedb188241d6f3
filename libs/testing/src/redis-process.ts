// A private redis-server for tests that cut, restart or wipe it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface RedisProcess {
  /** The same over restarts. */
  readonly url: string;
  /** SIGKILL; resolves when it is gone. What it held is lost. */
  kill(): Promise<void>;
  /** Starts it again, empty. */
  start(): Promise<void>;
  /** FLUSHALL: it forgets everything and goes on. */
  wipe(): Promise<void>;
  /** Freezes it: connections stay, nothing answers. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

/** A redis-server without persistence on a free port of 127.0.0.1. `started: false`: not running until `start`. */
export async function startRedisProcess({ started = true } = {}): Promise<RedisProcess> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'gantry-redis-'));
  let server: ChildProcess | undefined;
  const kill = async () => {
    if (server === undefined) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    server = undefined;
    await gone;
  };
  const start = async () => {
    server = await spawnRedis(port, folder);
  };
  if (started) await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    wipe: () => command(port, 'FLUSHALL'),
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One inline command (https://redis.io/docs/latest/develop/reference/protocol-spec/#inline-commands); resolves with its answer. */
async function command(port: number, text: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end(`${text}\r\nQUIT\r\n`);
  const answer: string[] = [];
  for await (const piece of socket.setEncoding('utf8')) answer.push(String(piece));
  if (!answer.join('').startsWith('+OK')) throw new Error(`${text}: ${answer.join('')}`);
}

async function spawnRedis(port: number, folder: string): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const spawnFailed = once(server, 'error').then(([error]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  const listening = (async () => {
    for await (const line of createInterface({ input: server.stdout })) {
      if (line.includes('Ready to accept connections')) return;
    }
    throw new Error('redis-server ended before it was ready');
  })();
  await Promise.race([listening, spawnFailed]);
  spawnFailed.catch(() => undefined);
  server.stdout.resume();
  return server;
}
