// Intents: what people ask of a run that is at work, as rows (R5).
import { type IntentRecord, isFinal, type RunRecord } from '#domain';
import { AppError, type IntentKind, newId, type RunStatus } from '#kernel';
import type { Tx } from '../database.js';
import type { ProjectUnit } from '../events/project-unit.js';
import type { Prisma } from '../generated/client.js';
import { toRun } from './run-rows.js';

/** Stores the intent, unless the same is open already, and wakes the run's host. */
export async function ask(
  unit: ProjectUnit,
  run: Pick<RunRecord, 'runId' | 'projectId' | 'hostId'>,
  intent: { kind: IntentKind; userId: string; payload?: Prisma.InputJsonObject },
): Promise<void> {
  const { kind, userId, payload = {} } = intent;
  const { runId, projectId, hostId } = run;
  unit.wakeHostIds.add(hostId);
  const repeated =
    kind === 'setting' || kind === 'stdin' || kind === 'answer' ? 0 : await countOpen(unit.tx, runId, kind);
  if (repeated > 0) return;
  await unit.tx.intent.create({ data: { id: newId(), hostId, projectId, runId, kind, payload, createdBy: userId } });
}

const countOpen = (tx: Tx, runId: string, kind: IntentKind): Promise<number> =>
  tx.intent.count({ where: { runId, kind, appliedAt: null } });

/** An intent that another one makes void. */
export async function withdraw(tx: Tx, runId: string, kind: IntentKind): Promise<number> {
  const { count } = await tx.intent.updateMany({
    where: { runId, kind, appliedAt: null },
    data: { appliedAt: new Date() },
  });
  return count;
}

/** The run under its project's lock, in one of these states. Throws `run.already_finished`, `run.not_active`. */
export async function requireStatus(
  unit: ProjectUnit,
  runId: string,
  statuses: readonly RunStatus[],
): Promise<RunRecord> {
  const run = toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: runId } }));
  if (statuses.includes(run.status)) return run;
  const details = { status: run.status };
  if (isFinal(run.status)) throw new AppError('run.already_finished', 'The run is over already.', { details });
  throw new AppError('run.not_active', `This cannot be done to a run that is ${run.status}.`, { details });
}

/** Of one run at most as many are read at a time. */
const AT_ONCE = 100;

/** What is asked of these runs and not applied yet, oldest first. Kinds that nobody takes stay open, and hide only those of their own run. */
export async function openIntentsOf(client: Pick<Tx, '$queryRaw'>, runIds: readonly string[]): Promise<IntentRecord[]> {
  const rows = await client.$queryRaw<
    { id: string; run_id: string; kind: string; payload: Record<string, unknown>; created_by: string }[]
  >`SELECT i.id, i.run_id, i.kind, i.payload, i.created_by FROM unnest(${[...runIds]}::uuid[]) AS r(id)
    CROSS JOIN LATERAL (SELECT * FROM intent WHERE run_id = r.id AND applied_at IS NULL
      ORDER BY created_at, id LIMIT ${AT_ONCE}) i
    ORDER BY i.created_at, i.id`;
  return rows.map((row) => ({
    intentId: row.id,
    runId: row.run_id,
    kind: row.kind as IntentKind,
    payload: row.payload,
    createdBy: row.created_by,
  }));
}
