// Taking a dispatched run for a holder, or taking it over from an earlier one.
import type { ClaimedRun, HostLease, ProcessRecord, RunRecord } from '#domain';
import { AppError, LANE_HOLDING_STATUSES, newId } from '#kernel';
import type { Tx } from '../database.js';
import type { ProjectUnit } from '../events/project-unit.js';
import { readProject } from '../projects/pg-project-store.adapter.js';
import { commandStarted, runStarted } from './run-events.js';
import { toProcess, toRun, toSession } from './run-rows.js';

const holding: readonly string[] = LANE_HOLDING_STATUSES;

async function requireLease(tx: Tx, lease: HostLease): Promise<void> {
  const [row] = await tx.$queryRaw<unknown[]>`SELECT id FROM host WHERE id = ${lease.hostId}::uuid
    AND holder_id = ${lease.holderId}::uuid AND epoch = ${lease.epoch}`;
  if (row === undefined) throw new AppError('host.lease_lost', 'This worker does not hold the host any more.');
}

/** Undefined when the job is stale: the run is over, was dispatched anew, or belongs to another host. */
export async function claimRun(
  unit: ProjectUnit,
  job: { runId: string; dispatchNo: number },
  lease: HostLease,
): Promise<ClaimedRun | undefined> {
  const { tx } = unit;
  await requireLease(tx, lease);
  const before = await tx.run.findUnique({ where: { id: job.runId } });
  if (before === null || before.hostId !== lease.hostId || before.dispatchNo !== job.dispatchNo) return undefined;
  if (!holding.includes(before.status)) return undefined;
  const first = before.status === 'dispatched' && before.startedAt === null;
  const row = await tx.run.update({
    where: { id: job.runId },
    data: {
      epoch: { increment: 1 },
      status: before.status === 'dispatched' ? 'running' : before.status,
      startedAt: before.startedAt ?? new Date(),
    },
  });
  const run = toRun(row);
  unit.append([runStarted(run, !first), ...(first && run.kind === 'command' ? [commandStarted(run)] : [])]);
  unit.queueChanged();
  unit.refreshState();
  return describe(tx, run, !first);
}

async function describe(tx: Tx, run: RunRecord, resumed: boolean): Promise<ClaimedRun> {
  const project = await readProject(tx, run.projectId);
  if (project === undefined) throw new AppError('project.not_found', 'There is no such project.');
  const session =
    run.sessionId === null ? null : toSession(await tx.session.findUniqueOrThrow({ where: { id: run.sessionId } }));
  const [sandbox] = await tx.$queryRaw<{ id: string }[]>`INSERT INTO sandbox (id, project_id, host_id)
    VALUES (${newId()}::uuid, ${run.projectId}::uuid, ${run.hostId}::uuid)
    ON CONFLICT (project_id) DO UPDATE SET host_id = sandbox.host_id RETURNING id`;
  if (sandbox === undefined) throw new AppError('internal.unexpected', 'A project was given no sandbox.');
  const process = run.processId === null ? null : await tx.process.findUnique({ where: { id: run.processId } });
  const warm = process === null && run.sessionId !== null ? await warmProcess(tx, run.sessionId) : null;
  return {
    run,
    project,
    session,
    sandboxId: sandbox.id,
    process: process === null ? null : toProcess(process),
    warmProcess: warm,
    resumed,
  };
}

async function warmProcess(tx: Tx, sessionId: string): Promise<ProcessRecord | null> {
  const row = await tx.process.findFirst({
    where: { sessionId, kind: 'agent', state: 'live' },
    orderBy: { startedAt: 'desc' },
  });
  return row === null ? null : toProcess(row);
}
