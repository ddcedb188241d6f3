// The catalogue of BullMQ jobs: name, queue, payload, id and retention of each. Pure: the adapter is bull-run-queue.adapter.ts.
import { z } from 'zod';
import type { Dispatch } from '#domain';

const uuid = z.uuid();

/** Version 1 is the first; a reader knows its own and the one before (R18). */
const runJobPayload = z.object({
  version: z.literal(1),
  run_id: uuid,
  project_id: uuid,
  host_id: uuid,
  dispatch_no: z.int().min(1),
  correlation_id: z.string().min(1),
});
export type RunJobPayload = z.infer<typeof runJobPayload>;

/** Carries a dispatched run to the worker that holds its host. The row in Postgres says what to do; the job only where to look. */
export const RUN_JOB = {
  name: 'run',
  payload: runJobPayload,
  /** Each Docker host has a queue of its own. */
  queueName: (hostId: string): string => `runs.${hostId}`,
  /** Re-adding an id that exists is ignored by BullMQ in any state, so each dispatch has its own (R2). */
  jobId: (run: { runId: string; dispatchNo: number }): string => `${run.runId}-${run.dispatchNo}`,
  /** Nothing is kept and nothing retried: Postgres knows how a run ended (R2). */
  retention: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
} as const;

export const toRunJobPayload = (dispatch: Dispatch): RunJobPayload => ({
  version: 1,
  run_id: dispatch.runId,
  project_id: dispatch.projectId,
  host_id: dispatch.hostId,
  dispatch_no: dispatch.dispatchNo,
  correlation_id: dispatch.correlationId,
});

/** Undefined for anything that this build cannot read: such a job is dropped, and reconciling dispatches its run anew. */
export function readRunJob(data: unknown): Dispatch | undefined {
  const parsed = runJobPayload.safeParse(data);
  if (!parsed.success) return undefined;
  const { run_id, project_id, host_id, dispatch_no, correlation_id } = parsed.data;
  return {
    runId: run_id,
    projectId: project_id,
    hostId: host_id,
    dispatchNo: dispatch_no,
    correlationId: correlation_id,
  };
}

/** The run and dispatch that a job id names, or undefined for ids that are not ours. */
export function parseRunJobId(jobId: string): { runId: string; dispatchNo: number } | undefined {
  const match = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([1-9]\d*)$/.exec(jobId);
  return match?.[1] === undefined ? undefined : { runId: match[1], dispatchNo: Number(match[2]) };
}
