// A private Postgres server that is stopped and started again by scenarios. What it acknowledged survives the death of its processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#testing';
import { dataLayout, prepareDataFolder } from '../../ops/data-layout.ts';
import { existingPostgresUser, makePostgresUser } from '../../ops/host/system-user.ts';
import { awaitPostgres, preparePostgres } from '../../ops/services/postgres.ts';

export interface PostgresProcess {
  /** The same over restarts; its user may create databases. */
  readonly url: string;
  /** What it wrote. */
  readonly log: readonly string[];
  /** `fast` ends connections and shuts down; `crash` leaves at once, as from a failure, and recovers at the next start. */
  stop(how: 'fast' | 'crash'): Promise<void>;
  /** Resolves when it takes connections; nothing is done when it runs. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const SIGNALS = { fast: 'SIGINT', crash: 'SIGQUIT' } as const;

export async function startPostgresProcess(): Promise<PostgresProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-chaos-postgres-'));
  chmodSync(folder, 0o711); // its own user passes through
  const layout = dataLayout(folder);
  prepareDataFolder(layout);
  const user = process.getuid?.() === 0 ? (existingPostgresUser() ?? (await makePostgresUser())) : undefined;
  const plan = { layout, port: await freePort(), user, wishedFolder: layout.postgres, durable: true };
  const { spec, url } = await preparePostgres(plan, () => undefined);
  const [program = '', ...args] = spec.argv;
  // Only the machine's own death could lose what is not on the disk yet, and that is not played here.
  const options = [...args, '-c', 'fsync=off'];
  let server: ChildProcess | undefined;
  const log: string[] = [];
  const stop = async (how: 'fast' | 'crash'): Promise<void> => {
    if (server === undefined) return;
    const gone = once(server, 'exit');
    server.kill(SIGNALS[how]);
    server = undefined;
    await gone;
  };
  const start = async (): Promise<void> => {
    if (server !== undefined) return;
    server = spawn(program, options, {
      cwd: spec.cwd,
      env: spec.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(spec.owner === undefined ? {} : { uid: spec.owner.uid, gid: spec.owner.gid }),
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => void log.push(text));
    }
    await awaitPostgres(url, 'the output of the server');
  };
  await start();
  return {
    url,
    log,
    stop,
    start,
    close: async () => {
      await stop('fast');
      rmSync(folder, { recursive: true });
    },
  };
}
