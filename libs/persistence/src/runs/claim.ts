// Taking a dispatched run for a holder, or taking it over from an earlier one.
import type { ClaimedRun, HostLease, ProcessRecord, RunRecord, SessionRecord } from '#domain';
import { AppError, LANE_HOLDING_STATUSES, newId } from '#kernel';
import { type Columns, modelColumns } from '../columns.js';
import type { Tx } from '../database.js';
import type { ProjectUnit } from '../events/project-unit.js';
import type { Process, Run } from '../generated/client.js';
import { requireLease } from '../hosts/held-lease.js';
import { readProject } from '../projects/pg-project-store.adapter.js';
import { moveSession } from '../sessions/session-status.js';
import { moveRun } from './move-run.js';
import { commandStarted, runStarted } from './run-events.js';
import { toProcess, toRun, toSession } from './run-rows.js';

const holding: readonly string[] = [...LANE_HOLDING_STATUSES, 'parked'];

/** Undefined when the job is stale: the run is over, was dispatched anew, or belongs to another host. */
export async function claimRun(
  unit: ProjectUnit,
  job: { runId: string; dispatchNo: number },
  lease: HostLease,
): Promise<ClaimedRun | undefined> {
  const { tx } = unit;
  const before = await runUnderLease(tx, job.runId, lease);
  if (before === undefined || before.hostId !== lease.hostId || before.dispatchNo !== job.dispatchNo) return undefined;
  if (!holding.includes(before.status)) return undefined;
  const first = before.status === 'dispatched' && before.startedAt === null;
  const changes = { epoch: { increment: 1 }, startedAt: before.startedAt ?? new Date() };
  const row =
    before.status === 'dispatched'
      ? await moveRun(tx, { runId: job.runId, status: 'dispatched' }, 'running', changes)
      : await tx.run.update({ where: { id: job.runId }, data: changes });
  const run = toRun(row);
  unit.append([runStarted(run, !first), ...(first && run.kind === 'command' ? [commandStarted(run)] : [])]);
  unit.queueChanged();
  unit.runIsActive();
  unit.refreshState();
  if (first && run.sessionId !== null)
    await moveSession(unit, { sessionId: run.sessionId, to: 'starting', runId: run.runId });
  return describe(unit, run, !first);
}

/** Throws `host.lease_lost`. */
async function runUnderLease(tx: Tx, runId: string, lease: HostLease): Promise<RunRecord | undefined> {
  const [row] = await tx.$queryRaw<Columns[]>`SELECT r.* FROM run r, host h WHERE r.id = ${runId}::uuid
    AND h.id = ${lease.hostId}::uuid AND h.holder_id = ${lease.holderId}::uuid AND h.epoch = ${lease.epoch}`;
  if (row !== undefined) return toRun(modelColumns(row) as Run);
  await requireLease(tx, lease);
  return undefined;
}

async function describe({ tx, project: locked }: ProjectUnit, run: RunRecord, resumed: boolean): Promise<ClaimedRun> {
  const project = await readProject(tx, run.projectId);
  if (project === undefined) throw new AppError('project.not_found', 'There is no such project.');
  const session =
    run.sessionId === null ? null : toSession(await tx.session.findUniqueOrThrow({ where: { id: run.sessionId } }));
  const sandboxId = locked.sandboxId ?? (await makeSandbox(tx, run));
  const process = run.processId === null ? null : await tx.process.findUnique({ where: { id: run.processId } });
  const warm = process === null && session !== null ? await warmProcess(tx, session) : null;
  return {
    run,
    project,
    session,
    sandboxId,
    process: process === null ? null : toProcess(process),
    warmProcess: warm,
    resumed,
  };
}

/** A spare agent may have made it since the head was locked. */
async function makeSandbox(tx: Tx, { projectId, hostId }: RunRecord): Promise<string> {
  const [sandbox] = await tx.$queryRaw<{ id: string }[]>`INSERT INTO sandbox (id, project_id, host_id)
    VALUES (${newId()}::uuid, ${projectId}::uuid, ${hostId}::uuid)
    ON CONFLICT (project_id) DO UPDATE SET host_id = sandbox.host_id RETURNING id`;
  if (sandbox === undefined) throw new AppError('internal.unexpected', 'A project was given no sandbox.');
  return sandbox.id;
}

async function warmProcess(tx: Tx, session: SessionRecord): Promise<ProcessRecord | null> {
  const row = await tx.process.findFirst({
    where: { sessionId: session.sessionId, kind: 'agent', state: 'live' },
    orderBy: { startedAt: 'desc' },
  });
  if (row !== null) return toProcess(row);
  return session.agentSessionId === null ? takeSpare(tx, session) : null;
}

/** A conversation that begins takes the spare of its project, if there is one. */
async function takeSpare(tx: Tx, session: SessionRecord): Promise<ProcessRecord | null> {
  const [row] = await tx.$queryRaw<Columns[]>`
    UPDATE process SET session_id = ${session.sessionId}::uuid, last_used_at = now()
    WHERE id = (SELECT id FROM process WHERE project_id = ${session.projectId}::uuid AND kind = 'agent' AND state = 'live'
      AND session_id IS NULL ORDER BY started_at DESC LIMIT 1)
    RETURNING *`;
  return row === undefined ? null : toProcess(modelColumns(row) as Process);
}
