// Hosts and their leases (R4), on the database's clock.
import type { HostLease, HostRecord, HostStore } from '#domain';
import { newId } from '#kernel';
import type { Database } from '../database.js';
import { storable } from '../storable.js';

interface HostRow {
  id: string;
  engine_id: string;
  epoch: bigint;
  held: boolean;
  lost_at: Date | null;
  max_runs: number;
  info: { project_roots?: string[] };
}

const toHost = (row: HostRow): HostRecord => ({
  hostId: row.id,
  engineId: row.engine_id,
  epoch: Number(row.epoch),
  held: row.held,
  lostAt: row.lost_at,
  maxRuns: row.max_runs,
  projectRoots: row.info.project_roots ?? [],
});

export class PgHostStore implements HostStore {
  constructor(private readonly db: Database) {}

  async acquire(request: {
    engineId: string;
    holderId: string;
    leaseMs: number;
    maxRuns: number;
    projectRoots: string[];
    info: Record<string, unknown>;
  }): Promise<HostLease | undefined> {
    return this.db.transaction(async (tx) => {
      await tx.$executeRaw`INSERT INTO host (id, engine_id) VALUES (${newId()}::uuid, ${request.engineId})
        ON CONFLICT (engine_id) DO NOTHING`;
      const [row] = await tx.$queryRaw<{ id: string; epoch: bigint }[]>`
        UPDATE host SET epoch = epoch + 1, holder_id = ${request.holderId}::uuid, max_runs = ${request.maxRuns}, lost_at = NULL,
          lease_until = clock_timestamp() + make_interval(secs => ${request.leaseMs / 1000}::float8),
          info = ${JSON.stringify(storable({ ...request.info, project_roots: request.projectRoots }))}::jsonb, last_seen_at = clock_timestamp()
        WHERE engine_id = ${request.engineId}
          AND (holder_id IS NULL OR lease_until IS NULL OR lease_until < clock_timestamp())
        RETURNING id, epoch`;
      return row === undefined ? undefined : { hostId: row.id, holderId: request.holderId, epoch: Number(row.epoch) };
    });
  }

  async renew(lease: HostLease, leaseMs: number): Promise<boolean> {
    const updated = await this.db.run(
      (client) => client.$executeRaw`UPDATE host SET last_seen_at = clock_timestamp(),
          lease_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
        WHERE id = ${lease.hostId}::uuid AND holder_id = ${lease.holderId}::uuid AND epoch = ${lease.epoch}`,
    );
    return updated === 1;
  }

  async release(lease: HostLease): Promise<void> {
    await this.db.run(
      (client) => client.$executeRaw`UPDATE host SET holder_id = NULL, lease_until = NULL
        WHERE id = ${lease.hostId}::uuid AND holder_id = ${lease.holderId}::uuid AND epoch = ${lease.epoch}`,
    );
  }

  async list(): Promise<HostRecord[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<HostRow[]>`SELECT id, engine_id, epoch, max_runs, info,
        CASE WHEN EXISTS (SELECT 1 FROM project p WHERE p.host_id = host.id AND p.deleting_at IS NULL) THEN lost_at END AS lost_at,
        (holder_id IS NOT NULL AND lease_until > clock_timestamp()) AS held FROM host ORDER BY created_at, id`,
    );
    return rows.map(toHost);
  }

  async find(hostId: string): Promise<HostRecord | undefined> {
    return (await this.list()).find((host) => host.hostId === hostId);
  }

  async queueDepth(): Promise<{ hostId: string; status: string; count: number; oldestMs: number }[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ host_id: string; status: string; count: number; oldest_ms: number }[]>`
        SELECT host_id, status, count(*)::int AS count,
          (EXTRACT(EPOCH FROM (clock_timestamp() - min(queued_at))) * 1000)::float8 AS oldest_ms
        FROM run WHERE status IN ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused')
        GROUP BY host_id, status`,
    );
    return rows.map((row) => ({
      hostId: row.host_id,
      status: row.status,
      count: row.count,
      oldestMs: Math.max(0, Math.round(row.oldest_ms)),
    }));
  }
}
