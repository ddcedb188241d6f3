// What people change about a queue: the text of a prompt that still waits, its place, and whether a lane starts anything.
import type { PromptEdit, QueuedRun, QueueLaneRecord, RunRecord } from '#domain';
import { runTitle } from '#domain';
import { AppError } from '#kernel';
import type { ProjectUnit } from '../events/project-unit.js';
import { giveTitle } from '../sessions/session-status.js';
import { titleOf } from '../sessions/session-title.js';
import { storable, storableText } from '../storable.js';
import { lastPosition, positionAhead } from './lane-positions.js';
import { positionsOf, readQueue } from './queue-snapshot.js';
import { runUpdated } from './run-events.js';
import { toRun } from './run-rows.js';

/** The caller holds the lock of the project's head: a run that is queued here is not promoted meanwhile. */
function requireQueued(run: RunRecord): void {
  if (run.status === 'queued') return;
  throw new AppError('run.not_queued', 'The run does not wait in the queue any more.', {
    details: { status: run.status },
  });
}

export async function editPrompt(
  unit: ProjectUnit,
  run: RunRecord,
  userId: string,
  { prompt, options, timeoutMs }: PromptEdit,
): Promise<QueuedRun> {
  requireQueued(run);
  if (run.kind !== 'prompt') throw new AppError('request.invalid_payload', 'Only prompts can be changed.');
  const text = prompt === undefined ? undefined : storableText(prompt);
  const title = storableText(runTitle({ ...run, prompt: text ?? run.prompt }));
  const row = await unit.tx.run.update({
    where: { id: run.runId },
    data: {
      title,
      ...(text === undefined ? {} : { prompt: text }),
      ...(options === undefined ? {} : { options: storable(options) }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  });
  // Options are not shown: they may hold what is nobody else's business, as a server's configuration does.
  const changes = {
    title,
    ...(text === undefined ? {} : { text }),
    ...(options === undefined ? {} : { options_changed: true }),
  };
  unit.append([runUpdated(run, { ...changes, ...(await personOf(unit, userId)) })]);
  if (text !== undefined) await retitle(unit, run, text);
  unit.queueChanged();
  return placed(unit, toRun(row));
}

/** The conversation was named after the prompt as it was before, unless a person named it. */
async function retitle(unit: ProjectUnit, run: RunRecord, text: string): Promise<void> {
  if (run.sessionId === null) return;
  const session = await unit.tx.session.findUniqueOrThrow({ where: { id: run.sessionId } });
  if (session.titleByUser || session.title !== titleOf(run.prompt ?? '')) return;
  await giveTitle(unit, session, titleOf(text));
}

export async function moveQueued(
  unit: ProjectUnit,
  run: RunRecord,
  userId: string,
  beforeRunId?: string,
): Promise<QueuedRun> {
  requireQueued(run);
  if (beforeRunId === run.runId) return placed(unit, run);
  const { projectId, lane, runId } = run;
  if (beforeRunId !== undefined) await requireNeighbour(unit, run, beforeRunId);
  const position =
    beforeRunId === undefined
      ? await lastPosition(unit.tx, projectId)
      : await positionAhead(unit.tx, { projectId, lane, runId, beforeRunId });
  const row = await unit.tx.run.update({ where: { id: runId }, data: { position } });
  const moved = await placed(unit, toRun(row));
  unit.append([runUpdated(run, { position: moved.position, ...(await personOf(unit, userId)) })]);
  unit.queueChanged();
  // Another one is the first of its lane now, and its conversation may be free.
  if (!(await unit.promote())) return moved;
  unit.refreshState();
  return placed(unit, toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: runId } })));
}

async function requireNeighbour(unit: ProjectUnit, run: RunRecord, beforeRunId: string): Promise<void> {
  const other = await unit.tx.run.findFirst({ where: { id: beforeRunId, projectId: run.projectId, lane: run.lane } });
  if (other?.status === 'queued') return;
  throw new AppError('run.not_queued', 'The run to go ahead of does not wait in the same lane.', {
    details: { run_id: beforeRunId, ...(other === null ? {} : { status: other.status }) },
  });
}

async function placed(unit: ProjectUnit, run: RunRecord): Promise<QueuedRun> {
  const position = (await positionsOf(unit.tx, run.projectId, [run.runId])).get(run.runId);
  return { run, ...(position === undefined ? {} : { position }) };
}

export async function setLanePause(
  unit: ProjectUnit,
  { lane, userId, paused }: { lane: string; userId: string; paused: boolean },
): Promise<QueueLaneRecord> {
  const { tx, projectId } = unit;
  const project = await tx.project.findUnique({ where: { id: projectId }, select: { deletingAt: true } });
  if (project === null || project.deletingAt !== null) {
    throw new AppError('project.not_found', 'There is no such project.');
  }
  const where = { projectId, name: lane };
  const { count } = paused
    ? await tx.lane.createMany({ data: { ...where, pausedBy: userId }, skipDuplicates: true })
    : await tx.lane.deleteMany({ where });
  if (count > 0) {
    unit.append([{ type: 'project.updated', payload: { lane, paused, ...(await personOf(unit, userId)) } }]);
    unit.queueChanged();
    if (!paused && (await unit.promote())) unit.refreshState();
  }
  const { lanes } = await readQueue(tx, projectId);
  return lanes.find((each) => each.lane === lane) ?? { lane, queued: [], queuedCount: 0 };
}

async function personOf(unit: ProjectUnit, userId: string): Promise<{ user_id: string; user_name: string }> {
  const user = await unit.tx.user.findUnique({ where: { id: userId }, select: { name: true } });
  return { user_id: userId, user_name: user?.name ?? 'unknown' };
}
