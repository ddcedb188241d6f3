// The lanes of a project as clients see them: who holds each, who waits, and who paused it.
import { runTitle, type QueuedActiveRun, type QueueSnapshotRecord } from '#domain';
import { AppError, UNFINISHED_RUN_STATUSES, type RunKind, type RunStatus, type WaitReason } from '#kernel';
import type { Tx } from '../database.js';
import type { Prisma } from '../generated/client.js';

/** Throws `project.not_found`. */
export async function readQueue(tx: Tx, projectId: string): Promise<QueueSnapshotRecord> {
  const head = await tx.projectHead.findUnique({ where: { projectId }, select: { queueRevision: true } });
  if (head === null) throw new AppError('project.not_found', 'There is no such project.');
  return queueAt(tx, projectId, Number(head.queueRevision));
}

/** For who has just raised the revision. */
export async function queueAt(tx: Tx, projectId: string, revision: number): Promise<QueueSnapshotRecord> {
  const runs = await tx.run.findMany({
    where: { projectId, status: { in: [...UNFINISHED_RUN_STATUSES] } },
    select: QUEUE_COLUMNS,
    orderBy: [{ lane: 'asc' }, { position: 'asc' }],
  });
  const lanes = new Map<string, QueueLane>();
  const laneOf = (name: string): QueueLane => {
    const lane = lanes.get(name) ?? { lane: name, queued: [] };
    lanes.set(name, lane);
    return lane;
  };
  for (const run of runs) placeInLane(laneOf(run.lane), run);
  const paused = await tx.lane.findMany({ where: { projectId }, orderBy: { name: 'asc' } });
  for (const { name, pausedAt, pausedBy } of paused) laneOf(name).paused = { since: pausedAt, by: pausedBy };
  return { projectId, revision: revision, lanes: [...lanes.values()] };
}

type QueueLane = QueueSnapshotRecord['lanes'][number];
const QUEUE_COLUMNS = {
  id: true,
  lane: true,
  status: true,
  kind: true,
  prompt: true,
  shellCommand: true,
  argv: true,
  startedAt: true,
  waitingSince: true,
  waitReason: true,
  resumeAt: true,
} as const;

function placeInLane(lane: QueueLane, row: Prisma.RunGetPayload<{ select: typeof QUEUE_COLUMNS }>): void {
  const kind = row.kind as RunKind;
  const title = runTitle({ ...row, kind });
  if (row.status === 'queued') {
    lane.queued.push({ runId: row.id, position: lane.queued.length, kind, title });
    return;
  }
  const active: QueuedActiveRun = {
    runId: row.id,
    kind,
    status: row.status as RunStatus,
    title,
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt }),
    ...(row.waitingSince === null ? {} : { waitingSince: row.waitingSince }),
    ...(row.waitReason === null ? {} : { waitReason: row.waitReason as WaitReason }),
    ...(row.resumeAt === null ? {} : { resumeAt: row.resumeAt }),
  };
  if (row.status === 'parked') lane.parked = [...(lane.parked ?? []), active];
  else Object.assign(lane, { activeRunId: row.id, active });
}
