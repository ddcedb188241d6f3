// A run whose work is begun again inside it: the end of the attempt before, its number and its wait in one transaction.
import type { Attempt, BegunAttempt, RunRecord } from '#domain';
import type { ProjectUnit } from '../events/project-unit.js';
import { NO_WAIT } from './finish.js';
import { moveRun } from './move-run.js';
import { writeOutput } from './output-writer.js';
import { runUpdated } from './run-events.js';
import { toProcess, toRun, toSession } from './run-rows.js';

/** Undefined, and nothing is changed, when a tool has run and that forbids it. */
export async function beginAttempt(
  unit: ProjectUnit,
  run: RunRecord,
  attempt: Attempt,
): Promise<BegunAttempt | undefined> {
  if (!attempt.evenAfterTools && (await hasRunTools(unit, run.runId))) return undefined;
  const { output, waitReason, resumeAt, error, costUsd } = attempt;
  await writeOutput(unit.tx, run, output);
  unit.append(output.events);
  const changes = { resumeAt, attempts: { increment: 1 }, costUsd: (run.costUsd ?? 0) + costUsd };
  const row =
    waitReason === undefined
      ? await unit.tx.run.update({ where: { id: run.runId }, data: changes })
      : await moveRun(unit.tx, run, 'waiting', { ...changes, waitReason, waitingSince: new Date() });
  const told = {
    attempt: row.attempts,
    wait_ms: Math.max(0, resumeAt.getTime() - Date.now()),
    ...(waitReason === undefined ? {} : { status: 'waiting', wait_reason: waitReason }),
    resume_at: resumeAt.toISOString(),
    error,
  };
  unit.append([runUpdated(run, told)]);
  unit.queueChanged();
  return begun(unit, toRun(row));
}

/** The wait is over. */
export async function continueAttempt(unit: ProjectUnit, run: RunRecord): Promise<RunRecord> {
  if (run.resumeAt === null) return run;
  const status = run.status === 'waiting' ? 'running' : run.status;
  const { pausedAt: _paused, ...noWait } = NO_WAIT;
  const row =
    run.status === 'waiting'
      ? await moveRun(unit.tx, run, 'running', noWait)
      : await unit.tx.run.update({ where: { id: run.runId }, data: noWait });
  unit.append([runUpdated(run, { status, attempt: run.attempts })]);
  unit.queueChanged();
  return toRun(row);
}

const hasRunTools = async (unit: ProjectUnit, runId: string): Promise<boolean> =>
  (await unit.tx.event.findFirst({ where: { runId, type: 'message.tool_result' }, select: { seq: true } })) !== null;

async function begun(unit: ProjectUnit, run: RunRecord): Promise<BegunAttempt> {
  const { tx } = unit;
  const process = run.processId === null ? null : await tx.process.findUnique({ where: { id: run.processId } });
  const session = run.sessionId === null ? null : await tx.session.findUnique({ where: { id: run.sessionId } });
  return {
    run,
    process: process === null ? null : toProcess(process),
    session: session === null ? null : toSession(session),
  };
}
