// The life of a run: one transition table (R14). The store compares and sets; nothing escapes the table.
import { AppError, FINAL_RUN_STATUSES, type FinalRunStatus, type RunStatus } from '#kernel';

const ends: readonly RunStatus[] = FINAL_RUN_STATUSES;

export const RUN_TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  queued: ['dispatched', 'cancelled', 'interrupted'],
  // A dispatched run can end without running: its sandbox does not start, it is cancelled before its turn, its host goes away.
  dispatched: ['running', ...ends],
  running: ['waiting', 'paused', ...ends],
  waiting: ['running', 'parked', ...ends],
  // Its lane is free again; it waits for a slot of the host now.
  parked: ['waiting', ...ends],
  // A question that came in the moment in which it was held still is asked when it goes on.
  paused: ['running', 'waiting', ...ends],
  succeeded: [],
  failed: [],
  cancelled: [],
  timed_out: [],
  interrupted: [],
};

export const isFinal = (status: RunStatus): status is FinalRunStatus => ends.includes(status);

export const canTransition = (from: RunStatus, to: RunStatus): boolean => RUN_TRANSITIONS[from].includes(to);

/** Throws `run.already_finished` for a run that is over, `run.not_active` for any other step that the table does not have. */
export function requireTransition(from: RunStatus, to: RunStatus): void {
  if (canTransition(from, to)) return;
  if (isFinal(from))
    throw new AppError('run.already_finished', 'The run is over already.', { details: { status: from } });
  throw new AppError('run.not_active', `A run that is ${from} cannot become ${to}.`, { details: { status: from } });
}
