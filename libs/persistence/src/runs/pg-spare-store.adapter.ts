// Spare agent processes in Postgres.
import type { Committed, EventDraft, HostLease, NewSpare, ProcessFence, ProcessRecord, SpareStore } from '#domain';
import { newId } from '#kernel';
import type { Database } from '../database.js';
import { inProject } from '../events/project-unit.js';
import { requireLease } from '../hosts/held-lease.js';
import { fenced } from './fences.js';
import { toProcess } from './run-rows.js';

export class PgSpareStore implements SpareStore {
  constructor(private readonly db: Database) {}

  async sandboxForSpare(projectId: string, lease: HostLease, most: number): Promise<{ sandboxId: string } | undefined> {
    const [wanted] = await this.db.run(
      (client) => client.$queryRaw<
        unknown[]
      >`SELECT p.id FROM project p LEFT JOIN session s ON s.id = p.current_session_id
        WHERE p.id = ${projectId}::uuid AND p.host_id = ${lease.hostId}::uuid AND p.deleting_at IS NULL
          AND s.agent_session_id IS NULL
          AND NOT EXISTS (SELECT 1 FROM process WHERE project_id = p.id AND kind = 'agent' AND session_id IS NULL
            AND state IN ('starting', 'live'))
          AND NOT EXISTS (SELECT 1 FROM run WHERE project_id = p.id AND kind = 'prompt'
            AND status IN ('queued', 'dispatched', 'running', 'waiting', 'paused'))
          AND (SELECT count(*) FROM process a JOIN sandbox b ON b.id = a.sandbox_id WHERE b.host_id = p.host_id
            AND a.kind = 'agent' AND a.state IN ('starting', 'live')) < ${most}`,
    );
    if (wanted === undefined) return undefined;
    const [sandbox] = await this.db.run(
      (client) => client.$queryRaw<{ id: string }[]>`INSERT INTO sandbox (id, project_id, host_id)
        VALUES (${newId()}::uuid, ${projectId}::uuid, ${lease.hostId}::uuid)
        ON CONFLICT (project_id) DO UPDATE SET host_id = sandbox.host_id RETURNING id`,
    );
    return sandbox === undefined ? undefined : { sandboxId: sandbox.id };
  }

  async beginSpare(lease: HostLease, spare: NewSpare): Promise<ProcessRecord> {
    return this.db.transaction(async (tx) => {
      await requireLease(tx, lease);
      const { processId, ...columns } = spare;
      return toProcess(await tx.process.create({ data: { id: processId, kind: 'agent', epoch: 1, ...columns } }));
    });
  }

  async spareReady(
    fence: ProcessFence,
    facts: { pid: number | null; bootId: string; outOffset: number },
  ): Promise<void> {
    const { count } = await this.db.run((client) =>
      client.process.updateMany({
        where: { id: fence.processId, epoch: fence.processEpoch, state: 'starting' },
        data: {
          state: 'live',
          pid: facts.pid,
          bootId: facts.bootId,
          outOffset: facts.outOffset,
          lastUsedAt: new Date(),
        },
      }),
    );
    if (count !== 1) throw fenced();
  }

  async appendHostEvents(lease: HostLease, projectId: string, events: EventDraft[]): Promise<Committed<void>> {
    return inProject(this.db, projectId, async (unit) => {
      await requireLease(unit.tx, lease);
      unit.append(events);
    });
  }
}
