// What promotion has to know of a project, in one statement: who holds its lanes and conversations, who may come back, and the first
// run of each lane that may go. Its cost depends on the number of lanes, not on the length of the queues.
import type { ReadyRun, WaitingRun } from '#domain';
import type { Tx } from '../database.js';

export interface LaneState {
  waiting: WaitingRun[];
  ready: ReadyRun[];
  busyLanes: string[];
  busySessions: string[];
  pausedLanes: string[];
  parkedSessions: string[];
}

interface Row {
  what: 'head' | 'holding' | 'ready' | 'asking' | 'paused';
  id: string | null;
  lane: string;
  session_id: string | null;
  position: bigint | null;
  parked_at: Date | null;
}

export async function readLaneState(tx: Tx, projectId: string): Promise<LaneState> {
  const rows = await tx.$queryRaw<Row[]>`
    WITH RECURSIVE parked AS MATERIALIZED (
      SELECT id, lane, session_id, parked_at, EXISTS (
        SELECT 1 FROM permission_request q WHERE q.run_id = run.id AND q.status = 'open') AS asks
      FROM run WHERE project_id = ${projectId}::uuid AND status = 'parked'
    ), names AS (
      (SELECT lane FROM run WHERE project_id = ${projectId}::uuid AND status = 'queued' ORDER BY lane LIMIT 1)
      UNION ALL
      SELECT (SELECT r.lane FROM run r WHERE r.project_id = ${projectId}::uuid AND r.status = 'queued' AND r.lane > names.lane
        ORDER BY r.lane LIMIT 1)
      FROM names WHERE names.lane IS NOT NULL
    )
    SELECT 'head' AS what, h.id, names.lane, h.session_id, h.position, NULL::timestamptz AS parked_at
    FROM names CROSS JOIN LATERAL (
      SELECT r.id, r.session_id, r.position FROM run r
      WHERE r.project_id = ${projectId}::uuid AND r.status = 'queued' AND r.lane = names.lane
        AND (r.session_id IS NULL OR NOT EXISTS (SELECT 1 FROM parked p WHERE p.session_id = r.session_id))
      ORDER BY r.position LIMIT 1) h
    WHERE names.lane IS NOT NULL
    UNION ALL
    SELECT 'holding', id, lane, session_id, NULL, NULL FROM run
    WHERE project_id = ${projectId}::uuid AND status IN ('dispatched', 'running', 'waiting', 'paused')
    UNION ALL
    SELECT CASE WHEN asks THEN 'asking' ELSE 'ready' END, id, lane, session_id, NULL, parked_at FROM parked
    UNION ALL
    SELECT 'paused', NULL, name, NULL, NULL, NULL FROM lane WHERE project_id = ${projectId}::uuid`;
  return stateOf(rows);
}

function stateOf(rows: Row[]): LaneState {
  const of = (...kinds: Row['what'][]): Row[] => rows.filter(({ what }) => kinds.includes(what));
  const lanes = (some: Row[]): string[] => some.map(({ lane }) => lane);
  const sessions = (some: Row[]): string[] => some.flatMap(({ session_id: id }) => (id === null ? [] : [id]));
  const common = (row: Row) => ({ runId: row.id ?? '', lane: row.lane, sessionId: row.session_id });
  return {
    waiting: of('head').map((row) => ({ ...common(row), position: Number(row.position) })),
    ready: of('ready').map((row) => ({ ...common(row), parkedAt: row.parked_at?.getTime() ?? 0 })),
    busyLanes: lanes(of('holding')),
    busySessions: sessions(of('holding')),
    pausedLanes: lanes(of('paused')),
    parkedSessions: sessions(of('asking', 'ready')),
  };
}
