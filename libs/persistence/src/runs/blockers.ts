// What stands in the way of a queued run, and the error that names it.
import { type RunRecord, runTitle } from '#domain';
import { AppError, LANE_HOLDING_STATUSES } from '#kernel';
import type { Tx } from '../database.js';
import { toRun } from './run-rows.js';

export interface Blockers {
  /** The one that holds its lane, those that hold its conversation, and the first that is queued ahead of it. */
  runs: RunRecord[];
  paused: { since: Date; by: string } | undefined;
}

export async function blockersOf(tx: Tx, run: RunRecord): Promise<Blockers> {
  const { projectId, lane, sessionId } = run;
  const holding = { in: [...LANE_HOLDING_STATUSES] };
  const active = await tx.run.findMany({
    where: {
      projectId,
      OR: [
        { lane, status: holding },
        ...(sessionId === null ? [] : [{ sessionId, status: { in: [...LANE_HOLDING_STATUSES, 'parked'] } }]),
      ],
    },
    orderBy: { startedAt: 'asc' },
  });
  const ahead = await tx.run.findFirst({
    where: { projectId, lane, status: 'queued', position: { lt: run.position } },
    orderBy: { position: 'asc' },
  });
  const lanePause = await tx.lane.findUnique({ where: { projectId_name: { projectId, name: lane } } });
  return {
    runs: [...active, ...(ahead === null ? [] : [ahead])].map(toRun),
    paused: lanePause === null ? undefined : { since: lanePause.pausedAt, by: lanePause.pausedBy },
  };
}

/** `session.locked`: says which run is in the way and who started it, or who paused the lane. */
export async function lockedBy(
  tx: Tx,
  blocker: RunRecord | undefined,
  paused?: { since: Date; by: string },
): Promise<AppError> {
  const { runId, kind, status, createdBy } = blocker ?? {};
  const details = {
    ...(blocker === undefined
      ? {}
      : {
          blocker: {
            run_id: runId,
            kind,
            status,
            title: runTitle(blocker),
            since: (blocker.startedAt ?? blocker.queuedAt).toISOString(),
            started_by: await userOf(tx, createdBy ?? ''),
          },
        }),
    ...(paused === undefined ? {} : { paused: { since: paused.since.toISOString(), by: await userOf(tx, paused.by) } }),
  };
  return new AppError('session.locked', 'Something else has to end first.', { details });
}

async function userOf(tx: Tx, userId: string): Promise<{ user_id: string; name: string }> {
  const user = await tx.user.findUnique({ where: { id: userId }, select: { name: true } });
  return { user_id: userId, name: user?.name ?? 'unknown' };
}
