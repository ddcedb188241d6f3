// The lanes of a project as clients see them: who holds each, who waits, and who paused it. Bounded: of a long queue its beginning is
// listed and the rest counted.
import type { QueuedActiveRun, QueueSnapshotRecord } from '#domain';
import { AppError, type RunKind, type RunStatus, type WaitReason } from '#kernel';
import type { Tx } from '../database.js';

/** Queued runs of a lane that are listed. */
export const LISTED_RUNS = 200;
/** Lanes that are listed; each parallel command has one of its own. */
const LISTED_LANES = 500;

/** Throws `project.not_found`. */
export async function readQueue(tx: Tx, projectId: string): Promise<QueueSnapshotRecord> {
  const head = await tx.projectHead.findUnique({ where: { projectId }, select: { queueRevision: true } });
  if (head === null) throw new AppError('project.not_found', 'There is no such project.');
  return queueAt(tx, projectId, Number(head.queueRevision));
}

type QueueLane = QueueSnapshotRecord['lanes'][number];

/** A run that has begun, a queued run, or a pause. */
interface Row {
  lane: string;
  id: string | null;
  status: string;
  kind: string;
  title: string;
  started_at: Date | null;
  waiting_since: Date | null;
  wait_reason: string | null;
  resume_at: Date | null;
  /** Of queued runs: how many the lane has. */
  queued: number;
  paused_by: string | null;
}

/** For who has just raised the revision. */
export async function queueAt(tx: Tx, projectId: string, revision: number): Promise<QueueSnapshotRecord> {
  const rows = await tx.$queryRaw<Row[]>`
    WITH RECURSIVE names AS (
      (SELECT lane, 1 AS n FROM run WHERE project_id = ${projectId}::uuid AND status = 'queued' ORDER BY lane LIMIT 1)
      UNION ALL
      SELECT (SELECT r.lane FROM run r WHERE r.project_id = ${projectId}::uuid AND r.status = 'queued' AND r.lane > names.lane
        ORDER BY r.lane LIMIT 1), n + 1
      FROM names WHERE names.lane IS NOT NULL AND n < ${LISTED_LANES}
    ), counted AS MATERIALIZED (
      SELECT names.lane, (SELECT count(*)::int FROM run r
        WHERE r.project_id = ${projectId}::uuid AND r.status = 'queued' AND r.lane = names.lane) AS queued
      FROM names WHERE names.lane IS NOT NULL
    )
    SELECT counted.lane, q.id, 'queued' AS status, q.kind, q.title, NULL::timestamptz AS started_at,
      NULL::timestamptz AS waiting_since, NULL AS wait_reason, NULL::timestamptz AS resume_at,
      counted.queued, NULL::uuid AS paused_by, q.position
    FROM counted CROSS JOIN LATERAL (SELECT r.id, r.kind, r.title, r.position FROM run r
      WHERE r.project_id = ${projectId}::uuid AND r.status = 'queued' AND r.lane = counted.lane
      ORDER BY r.position LIMIT ${LISTED_RUNS}) q
    UNION ALL
    (SELECT lane, id, status, kind, title, started_at, waiting_since, wait_reason, resume_at, 0, NULL, position FROM run
      WHERE project_id = ${projectId}::uuid AND status IN ('dispatched', 'running', 'waiting', 'parked', 'paused')
      ORDER BY lane LIMIT ${LISTED_LANES})
    UNION ALL
    (SELECT name, NULL, 'pause', '', '', NULL, paused_at, NULL, NULL, 0, paused_by, 0 FROM lane
      WHERE project_id = ${projectId}::uuid ORDER BY name LIMIT ${LISTED_LANES})
    ORDER BY 1, position`;
  const lanes = new Map<string, QueueLane>();
  for (const row of rows) {
    const lane = lanes.get(row.lane) ?? { lane: row.lane, queued: [], queuedCount: 0 };
    lanes.set(row.lane, lane);
    placeInLane(lane, row);
  }
  return { projectId, revision, lanes: [...lanes.values()] };
}

function placeInLane(lane: QueueLane, row: Row): void {
  const { id: runId, title } = row;
  const kind = row.kind as RunKind;
  if (runId === null) {
    lane.paused = { since: row.waiting_since ?? new Date(0), by: row.paused_by ?? '' };
  } else if (row.status === 'queued') {
    lane.queuedCount = row.queued;
    lane.queued.push({ runId, position: lane.queued.length, kind, title });
  } else {
    const active = toActive(row, runId, kind);
    if (row.status === 'parked') lane.parked = [...(lane.parked ?? []), active];
    else Object.assign(lane, { activeRunId: runId, active });
  }
}

const toActive = (row: Row, runId: string, kind: RunKind): QueuedActiveRun => ({
  runId,
  kind,
  status: row.status as RunStatus,
  title: row.title,
  ...(row.started_at === null ? {} : { startedAt: row.started_at }),
  ...(row.waiting_since === null ? {} : { waitingSince: row.waiting_since }),
  ...(row.wait_reason === null ? {} : { waitReason: row.wait_reason as WaitReason }),
  ...(row.resume_at === null ? {} : { resumeAt: row.resume_at }),
});

/** Places of queued runs in their lanes, 0 for the next; runs that are not queued are left out. */
export async function positionsOf(tx: Tx, projectId: string, runIds: string[]): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ id: string; place: number }[]>`
    SELECT id, place FROM (
      SELECT id, (row_number() OVER (PARTITION BY lane ORDER BY position, id) - 1)::int AS place FROM run
      WHERE project_id = ${projectId}::uuid AND status = 'queued'
        AND lane IN (SELECT lane FROM run WHERE id = ANY(${runIds}::uuid[]))) queue
    WHERE id = ANY(${runIds}::uuid[])`;
  return new Map(rows.map(({ id, place }) => [id, place]));
}
