// The comparison behind every write of a worker (R4): an old epoch changes nothing.
import type { ProcessEndGuard, ProcessFence, RunFence, RunRecord } from '#domain';
import { AppError } from '#kernel';
import type { Tx } from '../database.js';
import type { Run } from '../generated/client.js';
import { type Columns, modelColumns } from '../columns.js';
import { toRun } from './run-rows.js';

export const fenced = (): AppError =>
  new AppError('write.fenced', 'Another worker has taken over this run; the write changed nothing.');

/** The run, locked, if the fence is the newest. Throws `write.fenced`. */
export async function lockRun(tx: Tx, fence: RunFence): Promise<RunRecord> {
  const [row] = await tx.$queryRaw<Columns[]>`SELECT * FROM run WHERE id = ${fence.runId}::uuid FOR UPDATE`;
  if (row === undefined) throw fenced();
  const run = toRun(modelColumns(row) as Run);
  if (run.epoch !== fence.runEpoch || run.finishedAt !== null) throw fenced();
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

/** Writes down the end of a process that is not over yet, if the guard holds. Throws `write.fenced`. */
export async function endProcess(
  client: Pick<Tx, '$executeRaw' | 'process'>,
  processId: string,
  facts: { state: 'exited' | 'lost'; exitCode?: number | null; exitSignal?: string | null },
  { processEpoch, lease }: ProcessEndGuard,
): Promise<void> {
  const updated = await client.$executeRaw`UPDATE process SET state = ${facts.state}, ended_at = clock_timestamp(),
      exit_code = ${facts.exitCode ?? null}::int, exit_signal = ${facts.exitSignal ?? null}
    FROM project, host
    WHERE process.id = ${processId}::uuid AND process.state IN ('starting', 'live') AND process.epoch = ${processEpoch}
      AND project.id = process.project_id AND host.id = project.host_id
      AND host.id = ${lease.hostId}::uuid AND host.holder_id = ${lease.holderId}::uuid AND host.epoch = ${lease.epoch}
      AND host.lease_until > clock_timestamp()`;
  if (updated === 1) return;
  const open = await client.process.count({ where: { id: processId, state: { in: ['starting', 'live'] } } });
  if (open > 0) throw fenced();
}
