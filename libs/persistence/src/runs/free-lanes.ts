// Finds the projects of a host in which something could go on and nothing did (R3): what promotion would decide, asked of all at once.
import type { Tx } from '../database.js';

/** Free lanes first: there are few, however long the queues are, so what is asked of each of them costs little. */
export async function projectsWithFreeLanes(client: Pick<Tx, '$queryRaw'>, hostId: string): Promise<string[]> {
  const rows = await client.$queryRaw<{ project_id: string }[]>`
    WITH free AS MATERIALIZED (
      SELECT q.project_id, q.lane, q.session_id, q.position FROM run q
      WHERE q.host_id = ${hostId}::uuid AND q.status = 'queued'
        AND NOT EXISTS (SELECT 1 FROM run a WHERE a.project_id = q.project_id AND a.lane = q.lane
          AND a.status IN ('dispatched', 'running', 'waiting', 'paused'))
        AND NOT EXISTS (SELECT 1 FROM lane l WHERE l.project_id = q.project_id AND l.name = q.lane)
    ), eligible AS MATERIALIZED (
      SELECT DISTINCT ON (f.project_id, f.lane) f.project_id, f.session_id FROM free f
      WHERE f.session_id IS NULL OR NOT EXISTS (SELECT 1 FROM run s WHERE s.session_id = f.session_id AND s.status = 'parked')
      ORDER BY f.project_id, f.lane, f.position
    )
    SELECT DISTINCT e.project_id FROM eligible e
    WHERE e.session_id IS NULL OR NOT EXISTS (SELECT 1 FROM run s WHERE s.session_id = e.session_id
      AND s.status IN ('dispatched', 'running', 'waiting', 'paused'))
    UNION
    SELECT p.project_id FROM run p WHERE p.host_id = ${hostId}::uuid AND p.status = 'parked'
      AND NOT EXISTS (SELECT 1 FROM permission_request q WHERE q.run_id = p.id AND q.status = 'open')
      AND NOT EXISTS (SELECT 1 FROM run a WHERE a.project_id = p.project_id AND a.lane = p.lane
        AND a.status IN ('dispatched', 'running', 'waiting', 'paused'))`;
  return rows.map(({ project_id: projectId }) => projectId);
}
