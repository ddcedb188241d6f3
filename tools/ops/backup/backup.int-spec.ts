// A backup holds everything, byte for byte; a damaged or newer one changes nothing.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#persistence';
import { createTestDatabase, type TestDatabase } from '#testing';
import { checkBackup, createBackupWriter, readBackup } from './backup-file.ts';
import { dumpDatabase } from './database-dump.ts';
import { loadDatabase } from './database-load.ts';

jest.setTimeout(60_000);

const migrationsDir = join(process.cwd(), 'prisma', 'migrations');
let folder: string;
let source: TestDatabase;
let target: TestDatabase;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-backup-'));
  [source, target] = [await createTestDatabase(), await createTestDatabase()];
  await fillWithWork(source.url);
});
afterAll(async () => {
  await source.close();
  await target.close();
  rmSync(folder, { recursive: true });
});

/** Rows of the kinds that matter, with text and bytes that are hard to carry. */
async function fillWithWork(url: string): Promise<void> {
  await using(url, async (client) => {
    const awkward = 'tab\t newline\n backslash \\ \\N quote " € 😀 \u0001';
    const text = JSON.stringify({ text: awkward });
    await client.query(`INSERT INTO "user" (id, name, is_admin) VALUES (gen_random_uuid(), $1, true)`, [awkward]);
    await client.query(`INSERT INTO host (id, engine_id, epoch, holder_id, lease_until, last_seen_at)
      VALUES (gen_random_uuid(), 'engine', 41, gen_random_uuid(), now() + interval '1 hour', now())`);
    await client.query(`INSERT INTO project (id, host_id, name, path, created_by)
      SELECT gen_random_uuid(), host.id, 'p' || n, '/srv/' || n, "user".id FROM host, "user", generate_series(1, 20) n`);
    await client.query('INSERT INTO project_head (project_id) SELECT id FROM project');
    await client.query(
      `INSERT INTO event (project_id, seq, id, type, payload)
      SELECT id, n, gen_random_uuid(), 'message.system', $1::jsonb FROM project, generate_series(1, 500) n`,
      [text],
    );
    await client.query(
      `INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by, shell_command)
      SELECT gen_random_uuid(), p.id, p.host_id, 'command', 'succeeded', 1, 1000, 'c', p.created_by, $1 FROM project p`,
      [awkward],
    );
    const { rows } = await client.query<{ id: string }>('SELECT id FROM run');
    for (const { id } of rows) {
      await client.query('INSERT INTO output_chunk (run_id, "offset", channel, data) VALUES ($1, 0, \'stdout\', $2)', [
        id,
        randomBytes(300_000),
      ]);
    }
  });
}

async function using<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Every row of every table as text, without what a restore changes on purpose. */
async function contentsOf(url: string): Promise<Record<string, string>> {
  return using(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
    );
    const contents: Record<string, string> = {};
    for (const { name } of tables) {
      const drop = name === 'host' ? ` - 'epoch' - 'holder_id' - 'lease_until'` : '';
      const { rows } = await client.query<{ hash: string }>(
        `SELECT count(*) || ' ' || COALESCE(md5(string_agg(row::text, E'\\n' ORDER BY row::text)), '') AS hash
         FROM (SELECT to_jsonb(t)${drop} AS row FROM ${pg.escapeIdentifier(name)} t) AS rows`,
      );
      contents[name] = rows[0]?.hash ?? '';
    }
    return contents;
  });
}

async function backup(url = source.url, version = '1.2.3'): Promise<string> {
  const path = join(folder, `${randomBytes(4).toString('hex')}.backup`);
  const writer = createBackupWriter(path);
  await dumpDatabase(url, version, writer);
  await writer.close();
  return path;
}

it('OPS-38 restores every table byte for byte into another database, which nobody holds', async () => {
  const path = await backup();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const header = await checkBackup(path);
  expect(header).toMatchObject({ format: 1, version: '1.2.3' });
  const rows = await loadDatabase(path, header, { url: target.url, migrationsDir, migrate });
  expect(rows).toBeGreaterThan(10_000);
  expect(await contentsOf(target.url)).toEqual(await contentsOf(source.url));
  const { rows: hosts } = await using(target.url, (client) =>
    client.query<{ epoch: string; holder_id: string | null }>('SELECT epoch, holder_id FROM host'),
  );
  expect(hosts).toEqual([{ epoch: '1000041', holder_id: null }]);
});

it('OPS-38 holds one moment, whatever is written meanwhile', async () => {
  const path = join(folder, 'moment.backup');
  const real = createBackupWriter(path);
  let disturbed = false;
  const writer = {
    ...real,
    note: async (note: Parameters<typeof real.note>[0]) => {
      await real.note(note);
      if (note.kind !== 'table' || disturbed) return;
      disturbed = true;
      await using(source.url, (client) => client.query('UPDATE project_head SET head_seq = head_seq + 1'));
      await using(source.url, (client) =>
        client.query(`INSERT INTO "user" (id, name) VALUES (gen_random_uuid(), 'late')`),
      );
    },
  };
  const before = await contentsOf(source.url);
  await dumpDatabase(source.url, 'v', writer);
  await writer.close();
  await loadDatabase(path, await checkBackup(path), { url: target.url, migrationsDir, migrate });
  expect(await contentsOf(target.url)).toEqual(before);
});

it('OPS-39 refuses a file that is cut off, changed, or no backup, and leaves the database as it is', async () => {
  const path = await backup();
  const whole = readFileSync(path);
  const bent = Buffer.from(whole);
  bent.writeUInt8(whole.readUInt8(whole.length >> 1) ^ 1, whole.length >> 1);
  for (const bytes of [whole.subarray(0, whole.length - 100), whole.subarray(0, 10), bent, Buffer.from('hello')]) {
    const damaged = join(folder, 'damaged');
    writeFileSync(damaged, bytes);
    await expect(checkBackup(damaged)).rejects.toThrow(/cannot be used/);
  }
  await expect(checkBackup(join(folder, 'none'))).rejects.toThrow(/cannot be used/);
});

it('OPS-39 refuses a backup of a newer version before anything is changed', async () => {
  const header = await checkBackup(await backup());
  const newer = { ...header, migrations: [...header.migrations, { name: '99990101000000_later', checksum: '' }] };
  const before = await contentsOf(target.url);
  const load = loadDatabase(await backup(), newer, { url: target.url, migrationsDir, migrate });
  await expect(load).rejects.toThrow(/newer version/);
  expect(await contentsOf(target.url)).toEqual(before);
});

it('OPS-39 keeps the present database when loading fails on the way', async () => {
  const path = await backup();
  const before = await contentsOf(target.url);
  let calls = 0;
  const failing = async (url: string, dir: string): Promise<string[]> => {
    calls += 1;
    if (calls > 1) throw new Error('the disk is full');
    return migrate(url, dir);
  };
  const load = loadDatabase(path, await checkBackup(path), { url: target.url, migrationsDir, migrate: failing });
  await expect(load).rejects.toThrow('the disk is full');
  expect(await contentsOf(target.url)).toEqual(before);
  const left = await using(target.url, (client) =>
    client.query(`SELECT datname FROM pg_database WHERE datname LIKE current_database() || '_restore%'`),
  );
  expect(left.rows).toEqual([]);
});

it('OPS-38 a backup that is not finished leaves no file', async () => {
  const path = join(folder, 'abandoned.backup');
  const writer = createBackupWriter(path);
  await writer.data(Buffer.from('x'));
  writer.abandon();
  expect([existsSync(path), existsSync(`${path}.partial`)]).toEqual([false, false]);
  const frames = [];
  for await (const frame of readBackup(await backup())) if ('note' in frame) frames.push(frame.note.kind);
  expect(frames[0]).toBe('header');
});
