// What time does to questions: one that nobody answered is closed as refused, and a run that waits for too long leaves its lane to others.
import type { Announcement, PermissionAnswer } from '#domain';
import type { Database } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { moveRun } from '../runs/move-run.js';
import { permissionClosed, runUpdated } from '../runs/run-events.js';
import { toRun } from '../runs/run-rows.js';
import { storable } from '../storable.js';
import { questionClosed } from './open-question.js';
import { toPermission } from './permission-rows.js';

/** Looked at in one turn; the next one has the rest. */
const AT_ONCE = 200;
const EXPIRED: PermissionAnswer = { behavior: 'deny', message: 'Nobody answered in time.' };

interface Found {
  id: string;
  project_id: string;
}

/** Closes the questions of the host's runs whose time is up. */
export async function expireQuestions(db: Database, hostId: string): Promise<Announcement[]> {
  const due = await db.run(
    (client) => client.$queryRaw<Found[]>`
      SELECT q.id, q.project_id FROM permission_request q JOIN run r ON r.id = q.run_id
      WHERE q.status = 'open' AND q.expires_at <= now() AND r.host_id = ${hostId}::uuid LIMIT ${AT_ONCE}`,
  );
  return each(db, due, async (unit, requestId) => {
    const [row] = await unit.tx.permissionRequest.updateManyAndReturn({
      where: { id: requestId, status: 'open' },
      data: { status: 'expired', answer: storable({ ...EXPIRED }), answeredVia: 'timeout', closedAt: new Date() },
    });
    if (row === undefined) return; // answered in this very moment
    unit.append([permissionClosed(await toPermission(unit.tx, row), 'expired')]);
    unit.wakeHostIds.add(hostId);
    const run = await unit.tx.run.findUniqueOrThrow({ where: { id: row.runId }, select: { status: true } });
    await questionClosed(unit, run);
  });
}

/** Parks the host's runs that wait for a person for longer than their project says; `defaultMs` where it says nothing, 0 for never. */
export async function parkWaiting(db: Database, hostId: string, defaultMs: number): Promise<Announcement[]> {
  const due = await db.run(
    (client) => client.$queryRaw<Found[]>`
      SELECT r.id, r.project_id FROM run r JOIN project p ON p.id = r.project_id
      CROSS JOIN LATERAL (SELECT COALESCE((p.settings ->> 'park_after_ms')::float8, ${defaultMs}::float8) AS ms) after
      WHERE r.host_id = ${hostId}::uuid AND r.status = 'waiting' AND r.wait_reason IS DISTINCT FROM 'usage_limit'
        AND after.ms > 0 AND r.waiting_since + make_interval(secs => after.ms / 1000) <= now()
        AND EXISTS (SELECT 1 FROM permission_request q WHERE q.run_id = r.id AND q.status = 'open')
      LIMIT ${AT_ONCE}`,
  );
  return each(db, due, park);
}

/** Looked at again under the lock: it may have been answered since. */
async function park(unit: ProjectUnit, runId: string): Promise<void> {
  const run = toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: runId } }));
  if (run.status !== 'waiting' || run.waitReason === 'usage_limit') return;
  const open = await unit.tx.permissionRequest.count({ where: { runId, status: 'open' } });
  if (open === 0) return;
  const parkedAt = new Date();
  await moveRun(unit.tx, run, 'parked', { parkedAt });
  unit.append([runUpdated(run, { status: 'parked', parked_since: parkedAt.toISOString() })]);
  unit.queueChanged();
  if (await unit.promote()) unit.refreshState();
}

async function each(
  db: Database,
  found: Found[],
  work: (unit: ProjectUnit, id: string) => Promise<void>,
): Promise<Announcement[]> {
  const announcements: Announcement[] = [];
  for (const { id, project_id: projectId } of found) {
    const { announcement } = await inProject(db, projectId, (unit) => work(unit, id));
    announcements.push(announcement);
  }
  return announcements;
}
