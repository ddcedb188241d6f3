// Promotion in Postgres: parked runs that were answered take their lanes back, then the first queued run of each free lane is dispatched.
// The caller holds the lock of the project's head (R1).
import { choosePromotions, chooseReturns, type Dispatch, type RunRecord } from '#domain';
import type { Tx } from '../database.js';
import { Prisma } from '../generated/client.js';
import { readLaneState } from './lane-state.js';
import { moveRun } from './move-run.js';
import { toRun } from './run-rows.js';

export interface Promoted {
  dispatches: Dispatch[];
  /** Runs that were parked and hold their lane again; their workers are to be woken. */
  returned: RunRecord[];
}

export async function promoteLanes(tx: Tx, projectId: string): Promise<Promoted> {
  let state = await readLaneState(tx, projectId);
  const returned: RunRecord[] = [];
  for (const runId of chooseReturns(state)) returned.push(await takeBack(tx, runId));
  if (returned.length > 0) state = await readLaneState(tx, projectId);
  const chosen = choosePromotions(state);
  return { returned, dispatches: chosen.length === 0 ? [] : await dispatch(tx, projectId, chosen) };
}

/** It waits for a slot of the host now, no longer for a person. */
async function takeBack(tx: Tx, runId: string): Promise<RunRecord> {
  const changes = { parkedAt: null, waitingSince: new Date() };
  return toRun(await moveRun(tx, { runId, status: 'parked' }, 'waiting', changes));
}

async function dispatch(tx: Tx, projectId: string, runIds: string[]): Promise<Dispatch[]> {
  const rows = await tx.$queryRaw<{ id: string; host_id: string; dispatch_no: number; correlation_id: string }[]>`
    UPDATE run SET status = 'dispatched', dispatch_no = dispatch_no + 1, dispatched_at = now()
    WHERE id IN (${Prisma.join(runIds.map((id) => Prisma.sql`${id}::uuid`))}) AND status = 'queued'
    RETURNING id, host_id, dispatch_no, correlation_id`;
  return rows.map((row) => ({
    runId: row.id,
    hostId: row.host_id,
    projectId,
    dispatchNo: row.dispatch_no,
    correlationId: row.correlation_id,
  }));
}
