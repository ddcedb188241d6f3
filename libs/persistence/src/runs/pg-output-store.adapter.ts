// Stored output of commands.
import type { OutputChunkRecord, OutputHead, OutputStore } from '#domain';
import { FINAL_RUN_STATUSES, type StreamChannel } from '#kernel';
import type { Database } from '../database.js';

/** Chunks read in one query; small writes make small chunks. */
const BATCH = 512;

export class PgOutputStore implements OutputStore {
  constructor(private readonly db: Database) {}

  async read(runId: string, fromOffset: number, maxBytes: number): Promise<OutputChunkRecord[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ offset: bigint; channel: string; data: Uint8Array }[]>`
        SELECT "offset" + skipped AS "offset", channel, substring(data FROM skipped + 1 FOR wanted - skipped) AS data
        FROM (SELECT "offset", channel, data, GREATEST(0, ${fromOffset}::bigint - "offset")::int AS skipped,
            LEAST(octet_length(data), ${fromOffset + maxBytes}::bigint - "offset")::int AS wanted
          FROM output_chunk WHERE run_id = ${runId}::uuid
            AND NOT EXISTS (SELECT 1 FROM run WHERE id = ${runId}::uuid AND output_expired_at IS NOT NULL)
            AND "offset" >= COALESCE((SELECT max("offset") FROM output_chunk
              WHERE run_id = ${runId}::uuid AND "offset" <= ${fromOffset}::bigint), 0)
            AND "offset" < ${fromOffset + maxBytes}::bigint) AS chunk
        WHERE wanted > skipped ORDER BY "offset" LIMIT ${BATCH}`,
    );
    return rows.map(({ offset, channel, data }) => ({
      offset: Number(offset),
      channel: channel as StreamChannel,
      data,
    }));
  }

  async nextStored(runId: string, fromOffset: number): Promise<number | undefined> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ offset: bigint; bytes: number }[]>`
        SELECT c."offset", octet_length(c.data) AS bytes FROM run r, LATERAL (
          (SELECT "offset", data FROM output_chunk
            WHERE run_id = r.id AND "offset" <= ${fromOffset}::bigint ORDER BY "offset" DESC LIMIT 1)
          UNION ALL
          (SELECT "offset", data FROM output_chunk
            WHERE run_id = r.id AND "offset" > ${fromOffset}::bigint ORDER BY "offset" LIMIT 1)) c
        WHERE r.id = ${runId}::uuid AND r.output_expired_at IS NULL ORDER BY c."offset"`,
    );
    const next = rows.find(({ offset, bytes }) => Number(offset) + bytes > fromOffset);
    return next === undefined ? undefined : Math.max(fromOffset, Number(next.offset));
  }

  async head(runId: string): Promise<OutputHead | undefined> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<
        {
          project_id: string;
          status: string;
          exit_code: number | null;
          end_offset: bigint | null;
          cut_from: bigint | null;
          cut_to: bigint | null;
          expired_at: Date | null;
          stored: bigint | null;
        }[]
      >`
        SELECT r.project_id, r.status, r.exit_code, r.end_offset, r.output_cut_from AS cut_from,
          r.output_cut_to AS cut_to, r.output_expired_at AS expired_at,
          (SELECT "offset" + octet_length(data) FROM output_chunk c WHERE c.run_id = r.id ORDER BY "offset" DESC LIMIT 1) AS stored
        FROM run r WHERE r.id = ${runId}::uuid AND r.kind = 'command'`,
    );
    if (row === undefined) return undefined;
    const { cut_from: from, cut_to: to } = row;
    const finals: readonly string[] = FINAL_RUN_STATUSES;
    return {
      runId,
      projectId: row.project_id,
      headOffset: Number((row.expired_at === null ? row.stored : row.end_offset) ?? 0),
      cut: from === null || to === null ? null : { from: Number(from), to: Number(to) },
      expiredAt: row.expired_at,
      ended: finals.includes(row.status),
      exitCode: row.exit_code,
      reason: row.status,
    };
  }
}
