// Rows against jobs (R3): pure, so that every mixture can be tried.
import type { Dispatch } from '#domain';
import type { RunStatus } from '#kernel';
import { parseRunJobId, RUN_JOB } from '#jobs';

export interface JobComparison {
  /** Rows of the host that hold a lane. Read after `jobIds`. */
  active: (Dispatch & { status: RunStatus })[];
  isAttached: (runId: string) => boolean;
  /** Undefined while Redis is away. */
  jobIds: string[] | undefined;
  /** The first comparison of this holder: what an earlier one had taken from the queue may still be locked there. */
  first: boolean;
}

export interface JobRepairs {
  /** To be worked on without a job. */
  attach: Dispatch[];
  /** To be put into the queue again, under their number. */
  dispatch: Dispatch[];
  /** Ids of jobs whose run is over or was dispatched anew. */
  drop: string[];
}

export function compareJobs({ active, isAttached, jobIds, first }: JobComparison): JobRepairs {
  const queued = new Set(jobIds);
  const wanted = new Set(active.map((run) => RUN_JOB.jobId(run)));
  const unattended = active.filter(({ runId }) => !isAttached(runId));
  // A run that was claimed before goes on at once; one that was not is delivered by the queue, if there is one.
  const byQueue = (run: { status: RunStatus }) => run.status === 'dispatched' && !first && jobIds !== undefined;
  return {
    attach: unattended.filter((run) => !byQueue(run)),
    dispatch: unattended.filter((run) => byQueue(run) && !queued.has(RUN_JOB.jobId(run))),
    drop: (jobIds ?? []).filter((id) => parseRunJobId(id) !== undefined && !wanted.has(id)),
  };
}
