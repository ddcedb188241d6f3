// Queueing the compaction of a conversation: a run of its own kind, in the lane of the conversation's last one.
import { type NewCompaction, type QueuedRun, type RunRecord, type SessionRecord, requireUnarchived } from '#domain';
import { AppError, DEFAULT_LANE, newId, UNFINISHED_RUN_STATUSES } from '#kernel';
import type { ProjectUnit } from '../events/project-unit.js';
import { lastPosition } from '../runs/lane-positions.js';
import { runQueued } from '../runs/run-events.js';
import { toRun } from '../runs/run-rows.js';
import { storable } from '../storable.js';

/** The agent's own words for it. */
const COMPACT = '/compact';

export async function insertCompaction(
  unit: ProjectUnit,
  session: SessionRecord,
  request: NewCompaction,
): Promise<QueuedRun> {
  requireUnarchived(session);
  const { tx, projectId } = unit;
  const row = await tx.run.findFirst({ where: { sessionId: session.sessionId }, orderBy: { queuedAt: 'desc' } });
  const last = row === null ? undefined : toRun(row);
  if (session.agentSessionId === null && !isUnfinished(last)) throw nothingToCompact();
  const project = await tx.project.findUniqueOrThrow({ where: { id: projectId }, select: { hostId: true } });
  const created = await tx.run.create({
    data: {
      id: newId(),
      projectId,
      hostId: project.hostId,
      sessionId: session.sessionId,
      lane: last?.lane ?? DEFAULT_LANE,
      kind: 'compact',
      position: await lastPosition(tx, projectId),
      timeoutMs: request.timeoutMs,
      correlationId: request.correlationId,
      createdBy: request.userId,
      prompt: COMPACT,
      title: COMPACT,
      // Launched like the last prompt, so that its live process serves.
      options: storable(last?.options ?? {}),
    },
  });
  unit.append([runQueued(toRun(created))]);
  unit.queueChanged();
  await unit.promote();
  unit.refreshState();
  const run = toRun(await tx.run.findUniqueOrThrow({ where: { id: created.id } }));
  if (run.status !== 'queued') return { run };
  const { lane, position } = run;
  return {
    run,
    position: await tx.run.count({ where: { projectId, lane, status: 'queued', position: { lt: position } } }),
  };
}

const isUnfinished = (run: RunRecord | undefined): boolean =>
  run !== undefined && UNFINISHED_RUN_STATUSES.some((status) => status === run.status);

const nothingToCompact = (): AppError =>
  new AppError('session.nothing_to_compact', 'The conversation has not begun, so there is nothing to compact.');
