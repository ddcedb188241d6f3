// Queueing a run: the run, the user's message and the promotion of the lane in one transaction.
import { type NewCommand, type NewPrompt, type QueuedRun, type Replayable, type RunRecord, runTitle } from '#domain';
import { AppError, newId, type RunStatus } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { titleOf } from '../sessions/session-title.js';
import { storable, storableText } from '../storable.js';
import { blockersOf, lockedBy } from './blockers.js';
import { giveTitle } from '../sessions/session-status.js';
import { claimKey, saveResult } from './idempotency.js';
import { ask } from './intents.js';
import { lastPosition, nextPosition } from './lane-positions.js';
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
  const { project } = unit;
  if (project.deletingAt !== null) throw new AppError('project.not_found', 'There is no such project.');
  const sessionId = request.kind === 'prompt' ? await sessionFor(unit, request, project.currentSessionId) : null;
  const ahead = request.priority === 'next' || request.priority === 'now';
  const position = ahead ? await nextPosition(tx, projectId, request.lane) : await lastPosition(tx, projectId);
  const row = await tx.run.create({
    data: {
      id: newId(),
      projectId,
      hostId: project.hostId,
      sessionId,
      lane: request.lane,
      kind: request.kind,
      position,
      timeoutMs: request.timeoutMs,
      correlationId: request.correlationId,
      createdBy: request.userId,
      ...(request.kind === 'prompt'
        ? {
            prompt: storableText(request.prompt),
            options: storable(request.options),
            title: titleOfRun({ kind: 'prompt', prompt: request.prompt }),
          }
        : {
            title: titleOfRun(request),
            argv: request.argv,
            shellCommand: request.shellCommand,
            commandId: request.commandId ?? null,
            workingDir: request.workingDir,
            ...(request.stdin === undefined ? {} : { options: { stdin: request.stdin } }),
          }),
    },
  });
  const run = toRun(row);
  const message = run.kind === 'prompt' ? [userMessage(run, await nameOf(tx, request.userId))] : [];
  unit.append([...message, runQueued(run)]);
  unit.queueChanged();
  await unit.promote();
  unit.refreshState();
  const queued = await queuedRun(unit, run);
  if (queued.run.status === 'queued') await makeWay(unit, queued.run, request);
  return queued;
}

/** Of a run that could not go at once: throws where that was not wanted, interrupts what is in the way where that was. */
async function makeWay(unit: ProjectUnit, run: RunRecord, request: NewQueuedRun): Promise<void> {
  if (request.rejectIfBusy !== true && request.priority !== 'now') return;
  const { runs, paused } = await blockersOf(unit.tx, run);
  if (request.rejectIfBusy === true) throw await lockedBy(unit.tx, runs[0], paused);
  // In a lane that is paused it would not start either.
  if (paused !== undefined) return;
  for (const blocker of runs) {
    if (blocker.status !== 'queued') await ask(unit, blocker, { kind: 'interrupt', userId: request.userId });
  }
}

async function nameOf(tx: Tx, userId: string): Promise<string> {
  return (await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { name: true } })).name;
}

async function queuedRun(unit: ProjectUnit, run: RunRecord): Promise<QueuedRun> {
  const dispatch = unit.dispatchOf(run.runId);
  if (dispatch !== undefined) return { run: { ...run, status: 'dispatched', dispatchNo: dispatch.dispatchNo } };
  const ahead = await unit.tx.run.count({
    where: { projectId: run.projectId, lane: run.lane, status: 'queued', position: { lt: run.position } },
  });
  return { run, position: ahead };
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

const titleOfRun = (run: Partial<Parameters<typeof runTitle>[0]> & Pick<RunRecord, 'kind'>): string =>
  storableText(runTitle({ prompt: null, shellCommand: null, argv: [], ...run }));
