// What the installation holds and does, read in one statement.
import type { HostLease, HostLoad, Usage, UsageStore } from '#domain';
import type { ProjectState, RunStatus } from '#kernel';
import type { Database } from '../database.js';

interface UsageRow {
  project_states: Partial<Record<ProjectState, number>> | null;
  active_sessions: number;
  queues: { host_id: string; state: RunStatus; count: number; oldest_ms: number }[] | null;
  hosts: { host_id: string; held: boolean; lost_at: string | null; max_runs: number; load: HostLoad | null }[] | null;
  database_bytes: bigint;
  output_bytes: bigint;
  events: bigint;
}

export class PgUsageStore implements UsageStore {
  constructor(private readonly db: Database) {}

  async read(): Promise<Usage> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<UsageRow[]>`
        WITH unfinished AS (
          SELECT host_id, status, session_id, queued_at, started_at, output_bytes FROM run
          WHERE status IN ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused')
        ), head AS (SELECT sum(output_bytes) AS output_bytes, sum(event_count) AS events FROM project_head)
        SELECT
          (SELECT json_object_agg(state, count) FROM (
            SELECT state, count(*)::int AS count FROM project WHERE deleting_at IS NULL GROUP BY state) AS s) AS project_states,
          (SELECT count(DISTINCT session_id)::int FROM unfinished WHERE started_at IS NOT NULL) AS active_sessions,
          (SELECT json_agg(q) FROM (
            SELECT host_id, status AS state, count(*)::int AS count,
              GREATEST(0, round(EXTRACT(EPOCH FROM clock_timestamp() - min(queued_at)) * 1000))::float8 AS oldest_ms
            FROM unfinished GROUP BY host_id, status ORDER BY host_id, status) AS q) AS queues,
          (SELECT json_agg(h) FROM (
            SELECT id AS host_id, (holder_id IS NOT NULL AND lease_until > clock_timestamp()) AS held, lost_at, max_runs,
              info->'load' AS load FROM host ORDER BY created_at, id) AS h) AS hosts,
          pg_database_size(current_database()) AS database_bytes,
          (COALESCE(head.output_bytes, 0) + COALESCE((SELECT sum(output_bytes) FROM unfinished), 0))::bigint AS output_bytes,
          COALESCE(head.events, 0)::bigint AS events
        FROM head`,
    );
    return toUsage(row);
  }

  async reportLoad(lease: HostLease, load: HostLoad): Promise<void> {
    await this.db.run(
      (client) => client.$executeRaw`UPDATE host SET info = jsonb_set(info, '{load}', ${JSON.stringify(load)}::jsonb)
        WHERE id = ${lease.hostId}::uuid AND holder_id = ${lease.holderId}::uuid AND epoch = ${lease.epoch}`,
    );
  }
}

const toUsage = (row: UsageRow | undefined): Usage => ({
  projectStates: row?.project_states ?? {},
  activeSessions: row?.active_sessions ?? 0,
  queues: (row?.queues ?? []).map(({ host_id, state, count, oldest_ms }) => ({
    hostId: host_id,
    state,
    count,
    oldestMs: oldest_ms,
  })),
  hosts: (row?.hosts ?? []).map(({ host_id, held, lost_at, max_runs, load }) => ({
    hostId: host_id,
    held,
    lostAt: lost_at === null ? null : new Date(lost_at),
    maxRuns: max_runs,
    load: load ?? undefined,
  })),
  databaseBytes: Number(row?.database_bytes ?? 0),
  outputBytes: Number(row?.output_bytes ?? 0),
  events: Number(row?.events ?? 0),
});
