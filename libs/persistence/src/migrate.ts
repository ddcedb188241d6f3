// Applies prisma/migrations the way `prisma migrate deploy` does (same table, same checksums, same lock), without the Prisma CLI.
// Format: Prisma's _prisma_migrations table, checksum = SHA-256 of migration.sql in hex.
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { AppError } from '#kernel';

/** The advisory lock that Prisma itself takes, so that both never run at once. */
const PRISMA_LOCK = 72707369;

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;

interface Applied {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

export function readMigrations(dir: string): Migration[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(dir, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** Which migrations are still to be applied. Throws `config.invalid` when the history does not fit. */
export function pendingMigrations(migrations: Migration[], applied: Applied[]): Migration[] {
  const known = new Map(applied.map((row) => [row.migration_name, row]));
  return migrations.filter((migration) => {
    const row = known.get(migration.name);
    if (row === undefined) return true;
    if (row.finished_at === null) {
      throw new AppError('config.invalid', `Migration ${migration.name} failed earlier; see "prisma migrate resolve".`);
    }
    if (row.checksum !== migration.checksum) {
      throw new AppError('config.invalid', `Migration ${migration.name} was edited after it was applied.`);
    }
    return false;
  });
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  );
  return rows;
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const id = randomUUID();
  await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    migration.checksum,
    migration.name,
  ]);
  try {
    await client.query(migration.sql);
  } catch (error) {
    await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, String(error)]);
    throw error;
  }
  await client.query('UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1', [id]);
}

/** Applies what is missing and gives back the names; safe to run from several processes at once. */
export async function migrate(databaseUrl: string, migrationsDir: string): Promise<string[]> {
  const migrations = readMigrations(migrationsDir);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_LOCK]);
    await client.query(TABLE);
    const pending = pendingMigrations(migrations, await readApplied(client));
    for (const migration of pending) await apply(client, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end(); // the session's end releases the lock
  }
}
