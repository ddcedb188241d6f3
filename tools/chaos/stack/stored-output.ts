// What Postgres holds of a command's output, read from the side.
import { createHash } from 'node:crypto';
import type { ChaosStack } from './chaos-stack.ts';

const CHUNKS_AT_A_TIME = 50;

/** SHA-256 in hex of a run's output in the order of its offsets, and how long it is. Throws at a hole or an overlap. */
export async function storedOutput({ database }: ChaosStack, runId: string): Promise<{ hash: string; bytes: number }> {
  const hash = createHash('sha256');
  for (let bytes = 0; ;) {
    const rows = await database.db.client.$queryRawUnsafe<{ at: bigint; data: Uint8Array }[]>(
      `SELECT "offset" AS at, data FROM output_chunk WHERE run_id = $1::uuid AND "offset" >= $2
       ORDER BY "offset" LIMIT ${CHUNKS_AT_A_TIME}`,
      runId,
      BigInt(bytes),
    );
    if (rows.length === 0) return { hash: hash.digest('hex'), bytes };
    for (const { at, data } of rows) {
      if (Number(at) !== bytes) throw new Error(`output at ${at} is stored where ${bytes} is expected`);
      hash.update(data);
      bytes += data.byteLength;
    }
  }
}
