// The only writer of a run's status: what it is has to be what it was thought to be, and the step has to be in the table (R14).
import { requireTransition, type RunRecord } from '#domain';
import { AppError, type RunStatus } from '#kernel';
import type { Tx } from '../database.js';
import type { Prisma, Run } from '../generated/client.js';

/** More columns that change with the status. */
export type RunChanges = Omit<Prisma.RunUncheckedUpdateManyInput, 'id' | 'status'>;

/** Throws what `requireTransition` throws, and `run.not_active` when somebody else was faster. */
export async function moveRun(
  tx: Tx,
  run: Pick<RunRecord, 'runId' | 'status'>,
  to: RunStatus,
  changes: RunChanges = {},
): Promise<Run> {
  requireTransition(run.status, to);
  const [row] = await tx.run.updateManyAndReturn({
    where: { id: run.runId, status: run.status },
    data: { ...changes, status: to },
  });
  if (row !== undefined) return row;
  throw new AppError('run.not_active', `The run is not ${run.status} any more.`);
}
