// Sandboxes in Postgres.
import type { SandboxStore } from '#domain';
import { UNFINISHED_RUN_STATUSES } from '#kernel';
import type { Database } from '../database.js';

export class PgSandboxStore implements SandboxStore {
  constructor(private readonly db: Database) {}

  async idleSandboxes(hostId: string, idleMs: number): Promise<{ sandboxId: string; projectId: string }[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ id: string; project_id: string }[]>`
        SELECT s.id, s.project_id FROM sandbox s JOIN project p ON p.id = s.project_id
        WHERE s.host_id = ${hostId}::uuid AND p.last_active_at < clock_timestamp() - ${idleMs} * interval '1 millisecond'
          AND NOT EXISTS (SELECT 1 FROM run r WHERE r.project_id = p.id AND r.status = ANY(${[...UNFINISHED_RUN_STATUSES]}::text[]))
          AND NOT EXISTS (SELECT 1 FROM process a WHERE a.sandbox_id = s.id AND a.state IN ('starting', 'live'))`,
    );
    return rows.map((row) => ({ sandboxId: row.id, projectId: row.project_id }));
  }
}
