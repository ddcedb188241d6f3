// A database of its own for each test file, made from a migrated template, so that files run side by side.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, migrate, readMigrations, type Database } from '#persistence';
import { newId } from '#kernel';
import { testEnv } from './test-env.js';

export interface TestDatabase {
  url: string;
  db: Database;
  /** Closes the connections and drops the database. */
  close(): Promise<void>;
}

const MIGRATIONS = join(process.cwd(), 'prisma', 'migrations');

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
};

async function admin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The template's name follows from the migrations, so an edited migration makes a new one. */
async function ensureTemplate(url: string): Promise<string> {
  const digest = createHash('sha256')
    .update(JSON.stringify(readMigrations(MIGRATIONS)))
    .digest('hex')
    .slice(0, 12);
  const name = `gantry_template_${digest}`;
  await admin(url, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [`${name}_ready`]);
    if (rowCount === 1) return;
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
    await migrate(withDatabase(url, name), MIGRATIONS);
    await client.query(`ALTER DATABASE ${name} RENAME TO ${name}_ready`);
  });
  return `${name}_ready`;
}

/** `base`: URL of any database on the server that shall hold it; its user must be allowed to create databases. */
export async function createTestDatabase(base: string = testEnv().databaseUrl): Promise<TestDatabase> {
  const template = await ensureTemplate(base);
  const name = `gantry_test_${newId().replaceAll('-', '')}`;
  await admin(base, async (client) => {
    // Copies of one template exclude each other only for moments; the lock makes them wait instead of fail.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [`${template}:copy`]);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  const url = withDatabase(base, name);
  const db = createDatabase(url, { poolSize: 6 });
  return {
    url,
    db,
    async close() {
      await db.close();
      await admin(base, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}
