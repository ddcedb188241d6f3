// Puts output of a run into Postgres: bytes, offset, counters and what a cap drops, in the transaction of the caller.
import { cutAt, keptBytes, keptParts, type OutputCommit, type OutputCut, type RunRecord } from '#domain';
import type { Tx } from '../database.js';
import { moveOffset } from './fences.js';

/** `run` is locked and its fence was checked. Throws `write.fenced`. */
export async function writeOutput(tx: Tx, run: RunRecord, commit: OutputCommit): Promise<void> {
  if (commit.session !== undefined && run.sessionId !== null) {
    await tx.session.update({ where: { id: run.sessionId }, data: { ...commit.session, updatedAt: new Date() } });
  }
  const { fromOffset, toOffset, chunks, processCostUsd: costUsd } = commit;
  const cut = chunks.length === 0 ? run.outputCut : cutAfter(run, commit);
  const kept = chunks.flatMap((chunk) => keptParts(chunk, cut));
  await tx.run.update({ where: { id: commit.runId }, data: { ...countersOf(run, commit, cut) } });
  await moveOffset(tx, commit, { fromOffset, toOffset, ...(costUsd === undefined ? {} : { costUsd }) });
  if (cut !== null && cut.to !== run.outputCut?.to) {
    await dropStored(tx, run.runId, { from: run.outputCut?.to ?? cut.from, to: cut.to });
  }
  if (kept.length === 0) return;
  await tx.outputChunk.createMany({
    data: kept.map(({ offset, channel, data }) => ({
      runId: run.runId,
      offset,
      channel,
      data: new Uint8Array(data),
    })),
  });
}

const cutAfter = (run: RunRecord, { toOffset, maxOutputBytes = Infinity }: OutputCommit): OutputCut | null =>
  cutAt(toOffset - run.startOffset, maxOutputBytes, run.outputCut);

function countersOf(run: RunRecord, { chunks, toOffset, activeMs }: OutputCommit, cut: OutputCut | null) {
  if (chunks.length === 0) return { activeMs: Math.round(activeMs) };
  return {
    activeMs: Math.round(activeMs),
    outputBytes: keptBytes(toOffset - run.startOffset, cut),
    ...(cut === null ? {} : { outputCutFrom: cut.from, outputCutTo: cut.to }),
  };
}

/** Deletes the stored bytes of a stretch to the byte: chunks that reach beyond it keep what does. */
async function dropStored(tx: Tx, runId: string, { from, to }: OutputCut): Promise<void> {
  await tx.$executeRaw`
    WITH dropped AS (
      DELETE FROM output_chunk WHERE run_id = ${runId}::uuid AND "offset" < ${to}::bigint
        AND "offset" >= COALESCE((SELECT max("offset") FROM output_chunk WHERE run_id = ${runId}::uuid AND "offset" <= ${from}::bigint), 0)
      RETURNING "offset", channel, data, created_at
    )
    INSERT INTO output_chunk (run_id, "offset", channel, data, created_at)
    SELECT ${runId}::uuid, "offset", channel, substring(data FROM 1 FOR LEAST(${from}::bigint - "offset", octet_length(data))::int), created_at
      FROM dropped WHERE "offset" < ${from}::bigint
    UNION ALL
    SELECT ${runId}::uuid, ${to}::bigint, channel, substring(data FROM (${to}::bigint - "offset" + 1)::int), created_at
      FROM dropped WHERE "offset" + octet_length(data) > ${to}::bigint`;
}
