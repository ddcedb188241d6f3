// Whether the database has the migrations of this build: asked by processes that do not migrate themselves.
import type { Database } from './database.js';
import { type Migration, pendingMigrations } from './migrate.js';

/** Names of what is still to be applied; all of them for an empty database. Throws `config.invalid` when the history does not fit. */
export async function namesOfPendingMigrations(db: Database, migrations: Migration[]): Promise<string[]> {
  const applied = await db.run(async (client) => {
    const [table] = await client.$queryRaw<{ there: boolean }[]>`
      SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`;
    if (table?.there !== true) return [];
    return client.$queryRaw<{ migration_name: string; checksum: string; finished_at: Date | null }[]>`
      SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL`;
  });
  return pendingMigrations(migrations, applied).map(({ name }) => name);
}
