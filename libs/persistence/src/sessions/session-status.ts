// The only writer of a conversation's status: compares with the transition table and sets, and tells everyone.
import { sessionStatusesBefore } from '#domain';
import type { SessionStatus } from '#kernel';
import type { ProjectUnit } from '../events/project-unit.js';

export interface SessionMove {
  sessionId: string;
  to: SessionStatus;
  runId?: string;
  /** More columns that change with it. */
  data?: { lastRunAt?: Date; costUsd?: { increment: number }; archivedAt?: Date };
}

/** False when the table has no such step from where the conversation is; then its status stays. */
export async function moveSession(
  unit: ProjectUnit,
  { sessionId, to, runId, data = {} }: SessionMove,
): Promise<boolean> {
  const { count } = await unit.tx.session.updateMany({
    where: { id: sessionId, status: { in: sessionStatusesBefore(to) } },
    data: { ...data, status: to, updatedAt: new Date() },
  });
  if (count > 0) tell(unit, sessionId, { status: to }, runId);
  return count > 0;
}

/** The title of a conversation that was made without one. */
export async function giveTitle(
  unit: ProjectUnit,
  { id, status }: { id: string; status: string },
  title: string,
): Promise<void> {
  await unit.tx.session.update({ where: { id }, data: { title, updatedAt: new Date() } });
  tell(unit, id, { status, title });
}

/** session.updated with the fields that changed. */
export function tell(unit: ProjectUnit, sessionId: string, changes: Record<string, unknown>, runId?: string): void {
  const about = { sessionId, ...(runId === undefined ? {} : { runId }) };
  unit.append([{ type: 'session.updated', ...about, payload: { session_id: sessionId, ...changes } }]);
}
