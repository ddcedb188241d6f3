// Queueing a run: the run, the user's message and the promotion of the lane in one transaction.
import type { NewCommand, NewPrompt, QueuedRun, Replayable, RunRecord } from '#domain';
import { AppError, newId, type RunStatus } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { storable, storableText } from '../storable.js';
import { giveTitle } from '../sessions/session-status.js';
import { claimKey, saveResult } from './idempotency.js';
import { runQueued, userMessage } from './run-events.js';
import { toRun } from './run-rows.js';

export type NewQueuedRun = ({ kind: 'prompt' } & NewPrompt) | ({ kind: 'command' } & NewCommand);

/** `keyTtlMs`: how long an idempotency key counts. */
export async function enqueue(db: Database, request: NewQueuedRun, keyTtlMs: number): Promise<Replayable<QueuedRun>> {
  let replayed = false;
  const committed = await inProject(db, request.projectId, async (unit) => {
    if (request.idempotency !== undefined) {
      const first = await claimKey(unit.tx, request.idempotency, keyTtlMs);
      if (first !== undefined) {
        replayed = true;
        return replay(unit, first);
      }
    }
    const queued = await insert(unit, request);
    if (request.idempotency !== undefined) {
      await saveResult(unit.tx, request.idempotency, {
        run_id: queued.run.runId,
        status: queued.run.status,
        position: queued.position,
      });
    }
    return queued;
  });
  return { ...committed, replayed };
}

/** What the first call answered: the run with the status and position of then. */
async function replay(unit: ProjectUnit, first: Record<string, unknown>): Promise<QueuedRun> {
  const run = toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: String(first['run_id']) } }));
  const position = first['position'];
  return {
    run: { ...run, status: first['status'] as RunStatus },
    ...(typeof position === 'number' ? { position } : {}),
  };
}

async function insert(unit: ProjectUnit, request: NewQueuedRun): Promise<QueuedRun> {
  const { tx, projectId } = unit;
  const project = await tx.project.findUniqueOrThrow({ where: { id: projectId } });
  if (project.deletingAt !== null) throw new AppError('project.not_found', 'There is no such project.');
  const sessionId = request.kind === 'prompt' ? await sessionFor(unit, request, project.currentSessionId) : null;
  const head = await tx.projectHead.update({
    where: { projectId },
    data: { lastPosition: { increment: 1024 } },
    select: { lastPosition: true },
  });
  const row = await tx.run.create({
    data: {
      id: newId(),
      projectId,
      hostId: project.hostId,
      sessionId,
      lane: request.lane,
      kind: request.kind,
      position: head.lastPosition,
      timeoutMs: request.timeoutMs,
      correlationId: request.correlationId,
      createdBy: request.userId,
      ...(request.kind === 'prompt'
        ? { prompt: storableText(request.prompt), options: storable(request.options) }
        : {
            argv: request.argv,
            shellCommand: request.shellCommand,
            commandId: request.commandId ?? null,
            workingDir: request.workingDir,
          }),
    },
  });
  const run = toRun(row);
  const message = run.kind === 'prompt' ? [userMessage(run, await nameOf(tx, request.userId))] : [];
  unit.append([...message, runQueued(run)]);
  unit.queueChanged();
  await unit.promote();
  unit.refreshState();
  return queuedRun(unit, run);
}

async function nameOf(tx: Tx, userId: string): Promise<string> {
  return (await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { name: true } })).name;
}

async function queuedRun(unit: ProjectUnit, run: RunRecord): Promise<QueuedRun> {
  const now = toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: run.runId } }));
  if (now.status !== 'queued') return { run: now };
  const ahead = await unit.tx.run.count({
    where: { projectId: run.projectId, lane: run.lane, status: 'queued', position: { lt: run.position } },
  });
  return { run: now, position: ahead };
}

/** The conversation that a prompt continues; a new one when there is none. */
async function sessionFor(unit: ProjectUnit, prompt: NewPrompt, currentSessionId: string | null): Promise<string> {
  const { tx, projectId } = unit;
  const wanted = prompt.sessionId ?? currentSessionId;
  if (wanted !== null) {
    const session = await tx.session.findFirst({ where: { id: wanted, projectId } });
    if (session === null) throw new AppError('session.not_found', 'The project has no such conversation.');
    if (session.status === 'archived') throw new AppError('session.archived', 'The conversation is archived.');
    if (wanted !== currentSessionId) {
      await tx.project.update({ where: { id: projectId }, data: { currentSessionId: wanted } });
    }
    if (session.title === null) await giveTitle(unit, session, titleOf(prompt.prompt));
    return wanted;
  }
  const title = titleOf(prompt.prompt);
  const session = await tx.session.create({
    data: { id: newId(), projectId, createdBy: prompt.userId, title },
  });
  await tx.project.update({ where: { id: projectId }, data: { currentSessionId: session.id } });
  unit.append([{ type: 'session.created', sessionId: session.id, payload: { session_id: session.id, title } }]);
  return session.id;
}

const titleOf = (prompt: string): string => {
  const line = storableText(prompt).trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};
