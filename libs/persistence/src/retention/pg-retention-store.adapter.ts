// Deletes what has served its time. Marking is a unit of work on the project; the bytes go afterwards, in batches that lock no project.
import type { RetentionLimits, RetentionStore } from '#domain';
import { UNFINISHED_RUN_STATUSES } from '#kernel';
import type { Database } from '../database.js';
import { inProject } from '../events/project-unit.js';
import { Prisma } from '../generated/client.js';

/** Chunks in one batch; a chunk has up to about 256 KiB. */
const CHUNK_BATCH = 64;
const RECORD_BATCH = 1_000;

interface DueRun {
  id: string;
  project_id: string;
}

export class PgRetentionStore implements RetentionStore {
  constructor(private readonly db: Database) {}

  async expireOld(hostId: string, { outputDays }: Pick<RetentionLimits, 'outputDays'>, limit: number): Promise<number> {
    const due = await this.db.run(
      (client) => client.$queryRaw<DueRun[]>`
        (SELECT r.id, r.project_id FROM run r JOIN project p ON p.id = r.project_id
          WHERE r.output_bytes > 0 AND r.output_expired_at IS NULL AND p.host_id = ${hostId}::uuid
            AND p.settings->>'output_retention_days' IS NULL
            AND ${outputDays} > 0 AND r.finished_at < now() - make_interval(secs => ${outputDays}::float8 * 86400)
          ORDER BY r.finished_at LIMIT ${limit})
        UNION ALL
        (SELECT r.id, r.project_id FROM project p JOIN run r ON r.project_id = p.id
          WHERE p.host_id = ${hostId}::uuid AND (p.settings->>'output_retention_days')::float8 > 0
            AND r.output_bytes > 0 AND r.output_expired_at IS NULL
            AND r.finished_at < now() - make_interval(secs => (p.settings->>'output_retention_days')::float8 * 86400)
          LIMIT ${limit})`,
    );
    let expired = 0;
    for (const projectId of new Set(due.map((run) => run.project_id))) {
      const runs = due.filter((run) => run.project_id === projectId);
      const ids = Prisma.join(runs.map(({ id }) => Prisma.sql`${id}::uuid`));
      expired += await this.#expire(projectId, Prisma.sql`id IN (${ids})`);
    }
    return expired;
  }

  async expireAboveCap(hostId: string, { maxProjectBytes }: Pick<RetentionLimits, 'maxProjectBytes'>): Promise<number> {
    const above = await this.db.run(
      (client) => client.$queryRaw<{ project_id: string; excess: bigint }[]>`
        WITH live AS (
          SELECT project_id, sum(output_bytes) AS bytes FROM run
          WHERE host_id = ${hostId}::uuid AND status = ANY(${[...UNFINISHED_RUN_STATUSES]}::text[]) GROUP BY project_id
        )
        SELECT h.project_id, (h.output_bytes + COALESCE(live.bytes, 0) - ${maxProjectBytes}::bigint)::bigint AS excess
        FROM project_head h JOIN project p ON p.id = h.project_id LEFT JOIN live ON live.project_id = h.project_id
        WHERE p.host_id = ${hostId}::uuid AND h.output_bytes > 0
          AND h.output_bytes + COALESCE(live.bytes, 0) > ${maxProjectBytes}::bigint`,
    );
    let expired = 0;
    for (const { project_id: projectId, excess } of above) {
      expired += await this.#expire(
        projectId,
        Prisma.sql`id IN (SELECT id FROM (
          SELECT id, sum(output_bytes) OVER (ORDER BY finished_at, id) - output_bytes AS older FROM run
          WHERE project_id = ${projectId}::uuid AND finished_at IS NOT NULL AND output_bytes > 0 AND output_expired_at IS NULL
        ) AS stored WHERE older < ${excess}::bigint)`,
      );
    }
    return expired;
  }

  async deleteExpired(hostId: string): Promise<boolean> {
    return this.db.run(async (client) => {
      const [run] = await client.$queryRaw<{ id: string }[]>`SELECT id FROM run
        WHERE host_id = ${hostId}::uuid AND output_bytes > 0 AND output_expired_at IS NOT NULL LIMIT 1`;
      if (run === undefined) return false;
      const deleted = await client.$executeRaw`DELETE FROM output_chunk WHERE run_id = ${run.id}::uuid
        AND "offset" IN (SELECT "offset" FROM output_chunk WHERE run_id = ${run.id}::uuid ORDER BY "offset" LIMIT ${CHUNK_BATCH})`;
      if (deleted < CHUNK_BATCH) {
        await client.$executeRaw`UPDATE run SET output_bytes = 0 WHERE id = ${run.id}::uuid AND output_expired_at IS NOT NULL`;
      }
      return true;
    });
  }

  async purgeRecords(hostId: string, days: number): Promise<boolean> {
    return this.db.run(async (client) => {
      const intents = await client.$executeRaw`DELETE FROM intent WHERE id IN (SELECT id FROM intent
        WHERE applied_at < now() - make_interval(secs => ${days}::float8 * 86400) AND host_id = ${hostId}::uuid
        ORDER BY applied_at LIMIT ${RECORD_BATCH})`;
      const processes = await client.$executeRaw`DELETE FROM process WHERE id IN (SELECT c.id FROM process c
        JOIN project p ON p.id = c.project_id
        WHERE c.ended_at < now() - make_interval(secs => ${days}::float8 * 86400) AND c.state IN ('exited', 'lost')
          AND p.host_id = ${hostId}::uuid
          AND NOT EXISTS (SELECT 1 FROM run r WHERE r.process_id = c.id AND r.finished_at IS NULL)
        ORDER BY c.ended_at LIMIT ${RECORD_BATCH})`;
      return intents === RECORD_BATCH || processes === RECORD_BATCH;
    });
  }

  /** Readers see at once that nothing is left; the head's count follows in the same transaction. */
  async #expire(projectId: string, chosen: Prisma.Sql): Promise<number> {
    const { result } = await inProject(this.db, projectId, async (unit) => {
      const rows = await unit.tx.$queryRaw<{ output_bytes: bigint }[]>`
        UPDATE run SET output_expired_at = now(), end_offset = COALESCE(end_offset, (SELECT "offset" + octet_length(data)
          FROM output_chunk c WHERE c.run_id = run.id ORDER BY "offset" DESC LIMIT 1))
        WHERE project_id = ${projectId}::uuid AND finished_at IS NOT NULL AND output_bytes > 0 AND output_expired_at IS NULL
          AND ${chosen}
        RETURNING output_bytes`;
      unit.storedOutput(-rows.reduce((sum, row) => sum + Number(row.output_bytes), 0));
      return rows.length;
    });
    return result;
  }
}
