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
        SELECT "offset", channel, data FROM output_chunk WHERE run_id = ${runId}::uuid
          AND "offset" >= COALESCE((SELECT max("offset") FROM output_chunk
            WHERE run_id = ${runId}::uuid AND "offset" <= ${fromOffset}), 0)
          AND "offset" < ${fromOffset + maxBytes}
        ORDER BY "offset" LIMIT ${BATCH}`,
    );
    return rows.flatMap((row) => {
      const start = Number(row.offset);
      const skip = Math.max(0, fromOffset - start);
      const data = row.data.subarray(skip, Math.max(skip, fromOffset + maxBytes - start));
      return data.length === 0 ? [] : [{ offset: start + skip, channel: row.channel as StreamChannel, data }];
    });
  }

  async head(runId: string): Promise<OutputHead | undefined> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<
        {
          project_id: string;
          status: string;
          exit_code: number | null;
          end_offset: bigint | null;
          stored: bigint | null;
        }[]
      >`
        SELECT r.project_id, r.status, r.exit_code, r.end_offset,
          (SELECT "offset" + octet_length(data) FROM output_chunk c WHERE c.run_id = r.id ORDER BY "offset" DESC LIMIT 1) AS stored
        FROM run r WHERE r.id = ${runId}::uuid AND r.kind = 'command'`,
    );
    if (row === undefined) return undefined;
    const finals: readonly string[] = FINAL_RUN_STATUSES;
    return {
      runId,
      projectId: row.project_id,
      headOffset: Number(row.stored ?? 0),
      ended: finals.includes(row.status),
      exitCode: row.exit_code,
      reason: row.status,
    };
  }
}
