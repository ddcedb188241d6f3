// A database into a backup: every table from one snapshot, so that what is in it fits together whatever is written meanwhile.
import pg from 'pg';
import { type BackupHeader, type BackupWriter, FORMAT } from './backup-file.ts';
import { copyOut } from './copy-stream.ts';

/** Prisma's own table: a restore applies the migrations and so makes it anew. */
const MIGRATIONS = '_prisma_migrations';

interface Table {
  name: string;
  columns: string[];
}

/** Writes header and tables; gives how many rows there were. */
export async function dumpDatabase(url: string, version: string, writer: BackupWriter): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await writer.note({ kind: 'header', ...(await headerOf(client, version)) });
    let rows = 0;
    for (const { name, columns } of await tablesOf(client)) {
      await writer.note({ kind: 'table', name, columns });
      const count = await copyOut(client, copyText(name, columns, 'TO STDOUT'), (bytes) => writer.data(bytes));
      await writer.note({ kind: 'end', rows: count });
      rows += count;
    }
    await client.query('COMMIT');
    return rows;
  } finally {
    await client.end();
  }
}

/** Postgres' text format: the same in every version. */
export const copyText = (table: string, columns: string[], direction: 'TO STDOUT' | 'FROM STDIN'): string =>
  `COPY ${pg.escapeIdentifier(table)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')}) ${direction}`;

async function headerOf(client: pg.Client, version: string): Promise<BackupHeader> {
  const { rows: migrations } = await client.query<{ name: string; checksum: string }>(
    `SELECT migration_name AS name, checksum FROM ${MIGRATIONS} WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
     ORDER BY migration_name`,
  );
  const { rows: instances } = await client.query<{ id: string }>('SELECT id FROM instance');
  const created_at = new Date().toISOString();
  return { format: FORMAT, created_at, version, instance_id: instances[0]?.id ?? '', migrations };
}

/** Those that others refer to come first, so that they can be loaded in this order with all foreign keys in force. */
async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows: tables } = await client.query<Table>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '${MIGRATIONS}'
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.relname ORDER BY c.relname`,
  );
  const { rows: references } = await client.query<{ child: string; parent: string }>(
    `SELECT DISTINCT child.relname AS child, parent.relname AS parent FROM pg_constraint f
     JOIN pg_class child ON child.oid = f.conrelid JOIN pg_class parent ON parent.oid = f.confrelid
     WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace AND f.conrelid <> f.confrelid`,
  );
  return inOrder(tables, references);
}

/** Throws when tables refer to each other in a circle. */
export function inOrder<T extends { name: string }>(
  tables: readonly T[],
  references: readonly { child: string; parent: string }[],
): T[] {
  const ordered: T[] = [];
  const done = new Set<string>();
  while (ordered.length < tables.length) {
    const ready = tables.filter(
      ({ name }) => !done.has(name) && references.every(({ child, parent }) => child !== name || done.has(parent)),
    );
    if (ready.length === 0) throw new Error('Tables refer to each other in a circle.');
    for (const table of ready) {
      ordered.push(table);
      done.add(table.name);
    }
  }
  return ordered;
}
