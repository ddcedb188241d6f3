// Any of Gantry's services as a real process: started with an environment, waited for, killed, its log lines at hand.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export type ServiceName = 'gateway' | 'worker' | 'broker' | 'demo-model';

const SCRIPTS: Record<ServiceName, string> = {
  gateway: 'apps/gateway/src/main.js',
  worker: 'apps/worker/src/main.js',
  broker: 'apps/broker/src/main.js',
  'demo-model': 'libs/testing/src/model-stand-in/main.js',
};

/** Time between two questions whether a service is ready: the answer comes from another process, there is no event to wait for. */
const PROBE_MS = 50;

export interface ServiceProcess {
  readonly name: ServiceName;
  readonly pid: number;
  /** What it wrote to stdout and stderr, line by line. */
  readonly lines: string[];
  /** Resolves with the exit code, or null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Sends the signal and resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  /** The first line, past or future, that matches. */
  waitForLine(pattern: RegExp): Promise<string>;
}

export interface ServiceOptions {
  name: ServiceName;
  /** The whole environment but PATH and HOME: nothing of the test's own leaks in. */
  env: Record<string, string>;
  args?: string[];
  /** Runs `node` on this file instead of the built service. */
  script?: string;
}

export function spawnService({ name, env, args = [], script }: ServiceOptions): ServiceProcess {
  const file = script ?? join(process.cwd(), 'dist', SCRIPTS[name]);
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error(`${name} could not be started`);
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const read = (stream: NodeJS.ReadableStream): void => {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const listener of listeners) listener();
    });
  };
  read(child.stdout);
  read(child.stderr);
  const exited = exitOf(child);
  return {
    name,
    pid: child.pid,
    lines,
    exited,
    signal: (signal) => void child.kill(signal),
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      return exited;
    },
    waitForLine: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
        void exited.then((code) => reject(new Error(`${name} ended (${String(code)}) before ${String(pattern)}`)));
      }),
  };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

export interface Probe {
  url?: string;
  socketPath?: string;
  path: string;
}

const statusOf = (probe: Probe): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(probe.url ?? 'http://localhost');
    const target = probe.socketPath === undefined ? { hostname, port } : { socketPath: probe.socketPath };
    const request = get({ ...target, path: probe.path, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', () => {
      resolve(0); // not listening yet: the caller asks again until its deadline
    });
    request.on('timeout', () => request.destroy());
  });

/** Asks until the probe answers 200. Throws, with the last lines of the log, when the service ends or the deadline passes. */
export async function waitUntilReady(service: ServiceProcess, probe: Probe, deadlineMs = 60_000): Promise<void> {
  const until = Date.now() + deadlineMs;
  const ended = service.exited.then(() => 'ended' as const);
  let why = `was not ready after ${deadlineMs} ms`;
  while (Date.now() < until) {
    if ((await statusOf(probe)) === 200) return;
    if ((await Promise.race([ended, delay(PROBE_MS)])) === 'ended') {
      why = 'ended';
      break;
    }
  }
  throw new Error(`${service.name} ${why}:\n${service.lines.slice(-30).join('\n')}`);
}
