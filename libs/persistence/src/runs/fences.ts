// The comparison behind every write of a worker (R4): an old epoch changes nothing.
import type { ProcessFence, RunFence, RunRecord } from '#domain';
import { AppError } from '#kernel';
import type { Tx } from '../database.js';
import { toRun } from './run-rows.js';

export const fenced = (): AppError =>
  new AppError('write.fenced', 'Another worker has taken over this run; the write changed nothing.');

/** The run, locked, if the fence is the newest. Throws `write.fenced`. */
export async function lockRun(tx: Tx, fence: RunFence): Promise<RunRecord> {
  await tx.$queryRaw`SELECT id FROM run WHERE id = ${fence.runId}::uuid FOR UPDATE`;
  const row = await tx.run.findUnique({ where: { id: fence.runId } });
  if (row === null || Number(row.epoch) !== fence.runEpoch) throw fenced();
  const run = toRun(row);
  if (run.finishedAt !== null) throw fenced();
  return run;
}

/** Moves the committed offset from exactly `fromOffset`, if the process's epoch is the newest. Throws `write.fenced`. */
export async function moveOffset(
  tx: Tx,
  fence: ProcessFence,
  move: { fromOffset: number; toOffset: number; costUsd?: number },
): Promise<void> {
  const updated = await tx.$executeRaw`UPDATE process SET out_offset = ${move.toOffset}, last_used_at = now(),
      cost_usd = COALESCE(${move.costUsd ?? null}::numeric, cost_usd)
    WHERE id = ${fence.processId}::uuid AND epoch = ${fence.processEpoch} AND out_offset = ${move.fromOffset}`;
  if (updated !== 1) throw fenced();
}
