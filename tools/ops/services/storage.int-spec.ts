// Our own Postgres and Redis: what they keep over a hard end, whom they let in, and two installations side by side.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { testEnv, until } from '#testing';
import { makeContext, type Context } from '../cli/context.ts';
import { prepareStorage, prepareSupervisor, type StorageUrls } from '../cli/prepare.ts';
import { prepareDataFolder } from '../data-layout.ts';
import { poll } from '../host/poll.ts';
import { identify, signalProcess } from '../host/process-identity.ts';
import { Steps } from '../step.ts';
import type { SupervisorClient } from '../supervisor/control-client.ts';
import { dataFolderElsewhere } from './postgres-files.ts';
import { awaitPostgres } from './postgres.ts';
import { awaitRedis } from './redis.ts';

interface Installation {
  context: Context;
  supervisor: SupervisorClient;
  urls: StorageUrls;
  said: string[];
  /** Brings it up again, as a second `make up` does. */
  again: () => Promise<StorageUrls>;
}

/** Each makes a database cluster, with the disk in earnest. */
jest.setTimeout(120_000);

const installations: Installation[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-storage-'));
  chmodSync(folder, 0o711); // Postgres' user must get through
});
afterEach(async () => {
  for (const { supervisor, context } of installations.splice(0)) {
    if (await supervisor.info()) await supervisor.shutDown();
    rmSync(dataFolderElsewhere(context.layout.postgres), { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true });
});

async function install(dataDir: string, given: Record<string, string> = {}): Promise<Installation> {
  const said: string[] = [];
  const env = { GANTRY_DATA_DIR: dataDir, HOME: process.env['HOME'], ...given };
  const made = await makeContext({ env, yes: true, dataFolder: 'data-test' });
  const context = { ...made, steps: new Steps({ write: (text) => said.push(text) }) };
  prepareDataFolder(context.layout);
  const supervisor = await prepareSupervisor(context);
  const again = (): Promise<StorageUrls> => prepareStorage(context, supervisor, { durable: true });
  const installation = { context, supervisor, said, again, urls: { databaseUrl: '', redisUrl: '' } };
  installations.push(installation); // before anything is started, so that it is stopped whatever happens
  installation.urls = await again();
  return installation;
}

const listens = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });

async function sql(url: string, query: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(query)).rows;
  } finally {
    await client.end();
  }
}

async function redis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined); // the call that fails says so
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function killService({ supervisor }: Installation, name: string): Promise<void> {
  const before = (await supervisor.status()).find((service) => service.name === name);
  const identity = identify(before?.pid ?? 0);
  if (!identity) throw new Error(`${name} does not run`);
  signalProcess(identity, 'SIGKILL');
  const restarted = async () =>
    (await supervisor.status()).some(
      ({ name: found, restarts, state }) => found === name && restarts > 0 && state === 'running',
    );
  if (!(await poll(20_000, restarted))) throw new Error(`${name} was not started again`);
}

const logOf = ({ context }: Installation, name: string): string => join(context.layout.logs, `${name}.log`);

describe('our own storage', () => {
  it('OPS-14 Postgres keeps what was committed over kill -9, and is there again by itself', async () => {
    const installation = await install(join(folder, 'data'));
    const { databaseUrl } = installation.urls;
    await sql(databaseUrl, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)');
    await killService(installation, 'postgres');
    await awaitPostgres(databaseUrl, logOf(installation, 'postgres'));
    expect(await sql(databaseUrl, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
    expect(await installation.again()).toEqual(installation.urls);
  });

  it('OPS-14 Postgres listens on loopback only, as a user without rights, and wants the password', async () => {
    const { urls, context } = await install(join(folder, 'data'));
    expect(await sql(urls.databaseUrl, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(await sql(urls.databaseUrl, 'SHOW unix_socket_directories')).toEqual([{ unix_socket_directories: '' }]);
    const guess = new URL(urls.databaseUrl);
    guess.password = 'guess';
    await expect(sql(guess.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(statSync(join(context.layout.secrets, 'postgres-password')).mode & 0o777).toBe(0o600);
    const records = readFileSync(join(context.layout.run, 'services.json'), 'utf8');
    const { pid } = (JSON.parse(records) as { postgres: { identity: { pid: number } } }).postgres.identity;
    const uid = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(uid).not.toBe(0);
  });

  it('OPS-14 says where the data is when its user cannot reach the data folder', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const { said, urls, context } = await install(join(closed, 'data'));
    const elsewhere = dataFolderElsewhere(context.layout.postgres);
    const [{ data_directory: found } = {}] = (await sql(urls.databaseUrl, 'SHOW data_directory')) as {
      data_directory?: string;
    }[];
    const asRoot = process.getuid?.() === 0;
    expect(found).toBe(asRoot ? elsewhere : context.layout.postgres);
    expect(said.join('').includes(elsewhere)).toBe(asRoot);
  });

  it('OPS-15 Redis keeps what was written over kill -9, evicts nothing and wants the password', async () => {
    const installation = await install(join(folder, 'data'));
    const { redisUrl } = installation.urls;
    await redis(redisUrl, async (client) => {
      await client.set('kept', '42');
      expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
      expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'everysec']);
      expect(await client.config('GET', 'bind')).toEqual(['bind', '127.0.0.1']);
    });
    await killService(installation, 'redis');
    await awaitRedis(redisUrl, logOf(installation, 'redis'));
    expect(await redis(redisUrl, (client) => client.get('kept'))).toBe('42');
    const guess = new URL(redisUrl);
    guess.password = 'guess';
    await expect(redis(guess.href, (client) => client.get('kept'))).rejects.toThrow(/WRONGPASS|NOAUTH/);
    expect(statSync(join(installation.context.layout.redis, 'redis.conf')).mode & 0o777).toBe(0o600);
  });

  it('OPS-9 Redis moves to another port when something else took its own', async () => {
    const installation = await install(join(folder, 'data'));
    const { redisUrl, databaseUrl } = installation.urls;
    const port = Number(new URL(redisUrl).port);
    await redis(redisUrl, (client) => client.set('kept', '42'));
    const stranger = createServer();
    // The pauses before a restart grow, so the stranger gets there first.
    await until('the port', async () => {
      const { pid } = (await installation.supervisor.status()).find(({ name }) => name === 'redis') ?? {};
      const identity = identify(pid ?? 0);
      if (identity) signalProcess(identity, 'SIGKILL');
      return listens(stranger, port);
    });
    try {
      const moved = await installation.again();
      expect(Number(new URL(moved.redisUrl).port)).toBeGreaterThan(port);
      expect(moved.databaseUrl).toBe(databaseUrl);
      expect(await redis(moved.redisUrl, (client) => client.get('kept'))).toBe('42');
      expect(installation.said.join('')).toContain(`because ${port} is in use`);
    } finally {
      await new Promise((resolve) => stranger.close(resolve));
    }
  });

  it('OPS-18 two installations share nothing, and stopping one leaves the other alone', async () => {
    const [first, second] = [await install(join(folder, 'one')), await install(join(folder, 'two'))];
    const all = [first, second].flatMap(({ urls }) => [urls.databaseUrl, urls.redisUrl]).map((url) => new URL(url));
    expect(new Set(all.map(({ port }) => port)).size).toBe(4);
    expect(new Set(all.map(({ password }) => password)).size).toBe(4);
    await sql(first.urls.databaseUrl, 'CREATE TABLE mine (n int)');
    await second.supervisor.shutDown();
    expect(await sql(first.urls.databaseUrl, "SELECT to_regclass('mine') IS NOT NULL AS here")).toEqual([
      { here: true },
    ]);
    expect(await redis(first.urls.redisUrl, (client) => client.ping())).toBe('PONG');
    expect((await first.supervisor.status()).map(({ restarts }) => restarts)).toEqual([0, 0]);
    await expect(sql(second.urls.databaseUrl, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('OPS-30 uses what the user names, and starts nothing of its own', async () => {
    const given = { DATABASE_URL: testEnv().databaseUrl, REDIS_URL: testEnv().redisUrl };
    const { urls, supervisor } = await install(join(folder, 'data'), given);
    expect(urls).toEqual({ databaseUrl: given.DATABASE_URL, redisUrl: given.REDIS_URL });
    expect(await supervisor.status()).toEqual([]);
  });

  it.each([
    ['Postgres', 'DATABASE_URL', 'postgresql://u:hunter2@127.0.0.1:1/x'],
    ['Redis', 'REDIS_URL', 'redis://:hunter2@127.0.0.1:1/0'],
  ])('OPS-30 says that a named %s cannot be used, and what to do', async (name, option, url) => {
    const working = { DATABASE_URL: testEnv().databaseUrl, REDIS_URL: testEnv().redisUrl };
    await expect(install(join(folder, 'data'), { ...working, [option]: url })).rejects.toThrow(`${name} failed`);
    const said = installations.at(-1)?.said.join('') ?? '';
    expect(said).toContain(`unset ${option}`);
    expect(said).not.toContain('hunter2');
  });

  it('OPS-4 a second start changes nothing', async () => {
    const { supervisor, again, urls, said } = await install(join(folder, 'data'));
    const before = await supervisor.status();
    said.length = 0;
    expect(await again()).toEqual(urls);
    expect(await supervisor.status()).toEqual(before);
    expect(said).toEqual([]);
  });
});
