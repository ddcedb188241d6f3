// A backup into a database: loaded beside the present one, which gives way only when all of it is there.
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { StepError } from '../step.ts';
import { type BackupHeader, readBackup } from './backup-file.ts';
import { type CopyIn, copyIn } from './copy-stream.ts';
import { copyText } from './database-dump.ts';

export interface LoadOptions {
  /** Of the database that is replaced; it need not exist. */
  url: string;
  migrationsDir: string;
  migrate: (url: string, migrationsDir: string) => Promise<string[]>;
}

/** Sandboxes drop connections with an epoch below one that they have seen, and may have seen later ones than the backup's. */
const EPOCH_STEP = 1_000_000;

/** Throws a StepError when the backup has migrations that this version does not know, or knows otherwise. */
export function requireKnownSchema(header: BackupHeader, migrationsDir: string): void {
  const unknown = header.migrations.filter(({ name, checksum }) => {
    const file = join(migrationsDir, name, 'migration.sql');
    return !existsSync(file) || createHash('sha256').update(readFileSync(file)).digest('hex') !== checksum;
  });
  if (unknown.length === 0) return;
  throw new StepError(
    `The backup was made by a newer version (${header.version}): it needs ${unknown.map(({ name }) => name).join(', ')}.`,
    'Update Gantry to at least that version, then restore. Nothing was changed.',
  );
}

/** Gives how many rows were restored. What fails leaves the present database as it is. */
export async function loadDatabase(path: string, header: BackupHeader, options: LoadOptions): Promise<number> {
  requireKnownSchema(header, options.migrationsDir);
  const target = new URL(options.url);
  const name = decodeURIComponent(target.pathname.slice(1));
  const fresh = `${name}_restore_${randomBytes(4).toString('hex')}`;
  const freshUrl = Object.assign(new URL(options.url), { pathname: `/${encodeURIComponent(fresh)}` }).href;
  const admin = new pg.Client({
    connectionString: Object.assign(new URL(options.url), { pathname: '/postgres' }).href,
  });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${pg.escapeIdentifier(fresh)}`);
    try {
      await migrateAsFarAs(header, freshUrl, options);
      const rows = await loadTables(path, freshUrl);
      await options.migrate(freshUrl, options.migrationsDir);
      await takeAnew(freshUrl);
      await replace(admin, name, fresh);
      return rows;
    } catch (error) {
      await admin.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(fresh)} WITH (FORCE)`);
      throw error;
    }
  } finally {
    await admin.end();
  }
}

/** The schema that the backup was made with. */
async function migrateAsFarAs(
  header: BackupHeader,
  url: string,
  { migrate, migrationsDir }: LoadOptions,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-restore-'));
  try {
    for (const { name } of header.migrations)
      cpSync(join(migrationsDir, name), join(folder, name), { recursive: true });
    await migrate(url, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All tables in one transaction. */
async function loadTables(path: string, url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let copying: CopyIn | undefined;
  let total = 0;
  try {
    await client.query('BEGIN');
    for await (const frame of readBackup(path)) {
      if ('data' in frame) await copying?.write(frame.data);
      else if (frame.note.kind === 'table') {
        const { name, columns } = frame.note;
        await client.query(`DELETE FROM ${pg.escapeIdentifier(name)}`); // rows that migrations made
        copying = await copyIn(client, copyText(name, columns, 'FROM STDIN'));
      } else if (frame.note.kind === 'end' && copying !== undefined) {
        const rows = await copying.end();
        if (rows !== frame.note.rows) throw new Error(`a table has ${rows} rows instead of ${frame.note.rows}`);
        copying = undefined;
        total += rows;
      }
    }
    await client.query('COMMIT');
    return total;
  } finally {
    await client.end();
  }
}

/** Nobody holds a host after a restore, and whoever takes it is newer than anyone before. */
async function takeAnew(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `UPDATE host SET epoch = epoch + ${EPOCH_STEP}, holder_id = NULL, lease_until = NULL, lost_at = NULL`,
    );
    await client.query(`UPDATE process SET epoch = epoch + ${EPOCH_STEP} WHERE state IN ('starting', 'live')`);
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

async function replace(admin: pg.Client, name: string, fresh: string): Promise<void> {
  const [present, restored] = [pg.escapeIdentifier(name), pg.escapeIdentifier(fresh)];
  const before = pg.escapeIdentifier(`${fresh}_before`);
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY($1)', [[name, fresh]]);
  const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 1) await admin.query(`ALTER DATABASE ${present} RENAME TO ${before}`);
  try {
    await admin.query(`ALTER DATABASE ${restored} RENAME TO ${present}`);
  } catch (error) {
    if (rowCount === 1) await admin.query(`ALTER DATABASE ${before} RENAME TO ${present}`);
    throw error;
  }
  await admin.query(`DROP DATABASE IF EXISTS ${before} WITH (FORCE)`);
}
