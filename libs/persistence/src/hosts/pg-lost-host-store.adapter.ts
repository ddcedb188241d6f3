// Ends what was at work on hosts that are gone. The row of the host decides, under its lock, against a worker that comes back meanwhile.
import { isFinal, type Announcement, type LostHostStore, type RunOutcome, type RunRecord } from '#domain';
import { AppError, UNFINISHED_RUN_STATUSES } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { finishRun } from '../runs/finish.js';
import { toRun } from '../runs/run-rows.js';

export class PgLostHostStore implements LostHostStore {
  constructor(private readonly db: Database) {}

  async unheld(): Promise<{ hostId: string; epoch: number }[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ id: string; epoch: bigint }[]>`SELECT id, epoch FROM host
        WHERE holder_id IS NULL OR lease_until IS NULL OR lease_until < clock_timestamp()`,
    );
    return rows.map(({ id, epoch }) => ({ hostId: id, epoch: Number(epoch) }));
  }

  async giveUp(hostIds: string[], graceMs: number): Promise<Announcement[]> {
    const lost = await this.#mark(hostIds, graceMs);
    if (lost.length === 0) return [];
    const begun = await this.db.run((client) =>
      client.run.findMany({
        where: { hostId: { in: lost }, status: { in: [...UNFINISHED_RUN_STATUSES] }, startedAt: { not: null } },
        select: { id: true, projectId: true },
        orderBy: { id: 'asc' },
      }),
    );
    const announcements: Announcement[] = [];
    for (const { id, projectId } of begun) {
      const { result, announcement } = await inProject(this.db, projectId, (unit) => endRun(unit, id));
      if (result) announcements.push(announcement);
    }
    return announcements;
  }

  /** Those marked earlier, too: whoever marked them may not have lived to end their runs. */
  async #mark(hostIds: string[], graceMs: number): Promise<string[]> {
    const rows = await this.db.run(
      (client) => client.$queryRaw<{ id: string }[]>`
        UPDATE host SET lost_at = COALESCE(lost_at, clock_timestamp())
        WHERE id = ANY(${hostIds}::uuid[]) AND (holder_id IS NULL OR lease_until IS NULL OR lease_until < clock_timestamp())
          AND last_seen_at < clock_timestamp() - make_interval(secs => ${graceMs / 1000}::float8)
        RETURNING id`,
    );
    return rows.map(({ id }) => id);
  }
}

/** False when the run is over, or its host is held again. */
async function endRun(unit: ProjectUnit, runId: string): Promise<boolean> {
  const { tx } = unit;
  const before = await tx.run.findUniqueOrThrow({ where: { id: runId } });
  if (isFinal(toRun(before).status) || !(await isLost(tx, before.hostId))) return false;
  const run = toRun(await tx.run.update({ where: { id: runId }, data: { epoch: { increment: 1 } } }));
  await finishRun(unit, run, outcomeOf(run));
  return true;
}

/** Holds the host's row until the run is ended: a worker that takes the lease finds it over, or this finds the lease taken. */
async function isLost(tx: Tx, hostId: string): Promise<boolean> {
  const rows = await tx.$queryRaw<
    unknown[]
  >`SELECT id FROM host WHERE id = ${hostId}::uuid AND lost_at IS NOT NULL FOR SHARE`;
  return rows.length > 0;
}

function outcomeOf({ runId, activeMs }: RunRecord): RunOutcome {
  const { code, message } = new AppError(
    'sandbox.lost',
    'The host of the run went away and did not come back in time.',
  );
  return {
    status: 'failed',
    error: { code, message },
    activeMs,
    events: [{ type: 'sandbox.lost', runId, payload: { reason: 'host_unavailable' } }],
    abandonsProcess: true,
  };
}
