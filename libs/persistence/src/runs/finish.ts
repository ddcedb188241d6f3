// The end of a run: its row, its open questions, its conversation, the lane's next run and the project's state, at once.
import { type RunOutcome, type RunRecord, sessionStatusAfter } from '#domain';
import type { ProjectUnit } from '../events/project-unit.js';
import { Prisma } from '../generated/client.js';
import { toPermission } from '../permissions/permission-rows.js';
import { storable, storableText } from '../storable.js';
import { moveSession } from '../sessions/session-status.js';
import { moveRun, type RunChanges } from './move-run.js';
import { permissionClosed, runFinished } from './run-events.js';
import { toRun } from './run-rows.js';

export async function finishRun(unit: ProjectUnit, run: RunRecord, outcome: RunOutcome): Promise<RunRecord> {
  await closeQuestions(unit, run);
  const row = await moveRun(unit.tx, run, outcome.status, finalColumns(run, outcome));
  await unit.tx.intent.updateMany({ where: { runId: run.runId, appliedAt: null }, data: { appliedAt: new Date() } });
  if (outcome.abandonsProcess === true && run.processId !== null) await abandonProcess(unit, run.processId);
  if (run.sessionId !== null) await updateSession(unit, run, run.sessionId, outcome);
  unit.append([...(outcome.events ?? []), runFinished(run, outcome, row.durationMs ?? undefined)]);
  unit.storedOutput(Number(row.outputBytes));
  unit.queueChanged();
  await unit.promote();
  unit.refreshState(outcome.status);
  return toRun(row);
}

/** Columns of a run that neither waits nor is paused. */
export const NO_WAIT = { waitingSince: null, waitReason: null, resumeAt: null, parkedAt: null, pausedAt: null };

function finalColumns(run: RunRecord, outcome: RunOutcome): RunChanges {
  const finishedAt = new Date();
  return {
    finishedAt,
    ...NO_WAIT,
    activeMs: Math.round(outcome.activeMs),
    durationMs: run.startedAt === null ? null : Math.max(0, finishedAt.getTime() - run.startedAt.getTime()),
    exitCode: outcome.exitCode ?? null,
    exitSignal: outcome.exitSignal ?? null,
    errorCode: outcome.error?.code ?? null,
    errorMessage: outcome.error === undefined ? null : storableText(outcome.error.message),
    resultText: outcome.resultText === undefined ? null : storableText(outcome.resultText),
    usage: outcome.usage === undefined ? Prisma.DbNull : storable(outcome.usage),
    costUsd: outcome.costUsd ?? null,
    ...(outcome.endOffset === undefined ? {} : { endOffset: outcome.endOffset }),
  };
}

/** Under the run's lock nobody else has its process: another run is given it only after this one is over. */
async function abandonProcess(unit: ProjectUnit, processId: string): Promise<void> {
  await unit.tx.process.updateMany({
    where: { id: processId, state: { in: ['starting', 'live'] } },
    data: { state: 'lost', endedAt: new Date() },
  });
}

/** What the driver does not say follows from how the run ended: no conversation stays `running` without a run. */
async function updateSession(unit: ProjectUnit, run: RunRecord, sessionId: string, outcome: RunOutcome): Promise<void> {
  const data = { lastRunAt: new Date(), costUsd: { increment: outcome.costUsd ?? 0 } };
  const to = outcome.sessionStatus ?? sessionStatusAfter(outcome.status, await isResumable(unit, sessionId));
  if (await moveSession(unit, { sessionId, to, runId: run.runId, data })) return;
  await unit.tx.session.update({ where: { id: sessionId }, data: { ...data, updatedAt: data.lastRunAt } });
}

async function isResumable(unit: ProjectUnit, sessionId: string): Promise<boolean> {
  const session = await unit.tx.session.findUnique({ where: { id: sessionId }, select: { agentSessionId: true } });
  return session !== null && session.agentSessionId !== null;
}

async function closeQuestions(unit: ProjectUnit, run: RunRecord): Promise<void> {
  const open = await unit.tx.permissionRequest.findMany({
    where: { runId: run.runId, status: 'open' },
    orderBy: { createdAt: 'asc' },
  });
  for (const question of open) {
    const row = await unit.tx.permissionRequest.update({
      where: { id: question.id },
      data: { status: 'run_ended', closedAt: new Date() },
    });
    unit.append([permissionClosed(await toPermission(unit.tx, row), 'run_ended')]);
  }
}
