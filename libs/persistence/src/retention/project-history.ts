// Deletes the history of a project that goes, in batches: one cascade over a big project would outlast its transaction.
import type { Database } from '../database.js';

const CHUNK_BATCH = 64;
const EVENT_BATCH = 2_000;

/** Only for a project whose deletion began. Idempotent: what an earlier call left is found by the next one. */
export async function deleteHistory(db: Database, projectId: string): Promise<void> {
  await repeat(() =>
    db.run(
      (client) => client.$executeRaw`DELETE FROM output_chunk WHERE (run_id, "offset") IN (
        SELECT c.run_id, c."offset" FROM run r JOIN output_chunk c ON c.run_id = r.id
        JOIN project p ON p.id = r.project_id WHERE r.project_id = ${projectId}::uuid AND p.deleting_at IS NOT NULL
        LIMIT ${CHUNK_BATCH})`,
    ),
  );
  await repeat(() =>
    db.run(
      (client) => client.$executeRaw`DELETE FROM event WHERE project_id = ${projectId}::uuid AND seq IN (
        SELECT e.seq FROM event e JOIN project p ON p.id = e.project_id
        WHERE e.project_id = ${projectId}::uuid AND p.deleting_at IS NOT NULL ORDER BY e.seq LIMIT ${EVENT_BATCH})`,
    ),
  );
}

async function repeat(batch: () => Promise<number>): Promise<void> {
  while ((await batch()) > 0);
}
