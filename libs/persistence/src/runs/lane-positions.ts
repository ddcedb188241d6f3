// Places in the queue of a lane. The caller holds the lock of the project's head, so places are given one after the other.
import { POSITION_GAP, positionBetween } from '#domain';
import { AppError } from '#kernel';
import type { Tx } from '../database.js';

/** Behind everything that was ever queued in the project. */
export async function lastPosition(tx: Tx, projectId: string): Promise<bigint> {
  const head = await tx.projectHead.update({
    where: { projectId },
    data: { lastPosition: { increment: POSITION_GAP } },
    select: { lastPosition: true },
  });
  return head.lastPosition;
}

/** Ahead of all that are queued in the lane. */
export async function nextPosition(tx: Tx, projectId: string, lane: string): Promise<bigint> {
  const first = await neighbour(tx, { projectId, lane, exceptRunId: null });
  return first === undefined ? lastPosition(tx, projectId) : first - BigInt(POSITION_GAP);
}

/** Ahead of one queued run of the lane; the lane is numbered anew when there is no room. `runId` is the run that is to be there. */
export async function positionAhead(
  tx: Tx,
  place: { projectId: string; lane: string; runId: string; beforeRunId: string },
): Promise<bigint> {
  const found = await between(tx, place);
  if (found !== undefined) return found;
  await renumber(tx, place.projectId, place.lane);
  const free = await between(tx, place);
  if (free === undefined) throw new AppError('internal.unexpected', 'A lane that was numbered anew has no room.');
  return free;
}

async function between(
  tx: Tx,
  { projectId, lane, runId, beforeRunId }: { projectId: string; lane: string; runId: string; beforeRunId: string },
): Promise<bigint | undefined> {
  const { position: after } = await tx.run.findUniqueOrThrow({
    where: { id: beforeRunId },
    select: { position: true },
  });
  const before = await neighbour(tx, { projectId, lane, exceptRunId: runId, below: after });
  const position = positionBetween(before === undefined ? undefined : Number(before), Number(after));
  return position === undefined ? undefined : BigInt(position);
}

/** The first queued position of the lane; the last one below a position, where one is given. */
async function neighbour(
  tx: Tx,
  {
    projectId,
    lane,
    exceptRunId,
    below,
  }: { projectId: string; lane: string; exceptRunId: string | null; below?: bigint },
): Promise<bigint | undefined> {
  const row = await tx.run.findFirst({
    where: {
      projectId,
      lane,
      status: 'queued',
      ...(exceptRunId === null ? {} : { id: { not: exceptRunId } }),
      ...(below === undefined ? {} : { position: { lt: below } }),
    },
    orderBy: { position: below === undefined ? 'asc' : 'desc' },
    select: { position: true },
  });
  return row?.position;
}

/** Gives the queued runs of a lane their places anew, with room between them, behind everything of the project. */
async function renumber(tx: Tx, projectId: string, lane: string): Promise<void> {
  const count = await tx.run.count({ where: { projectId, lane, status: 'queued' } });
  const { lastPosition: end } = await tx.projectHead.update({
    where: { projectId },
    data: { lastPosition: { increment: count * POSITION_GAP } },
    select: { lastPosition: true },
  });
  await tx.$executeRaw`UPDATE run SET position = ${end}::bigint - (q.behind * ${POSITION_GAP}::bigint)
    FROM (SELECT id, row_number() OVER (ORDER BY position DESC, id DESC) - 1 AS behind FROM run
      WHERE project_id = ${projectId}::uuid AND lane = ${lane} AND status = 'queued') q
    WHERE run.id = q.id`;
}
