// IDLE, EXECUTING or ERROR: what a project shows in a list (R14).
import { assertNever, type FinalRunStatus, type ProjectState } from '#kernel';

/** `finished` is how the last run ended, when this change is the end of a run. */
export function projectStateAfter(before: ProjectState, activeRuns: number, finished?: FinalRunStatus): ProjectState {
  if (activeRuns > 0) return 'EXECUTING';
  if (finished === undefined) return before === 'EXECUTING' ? 'IDLE' : before;
  switch (finished) {
    case 'failed':
    case 'timed_out':
      return 'ERROR';
    case 'succeeded':
    case 'cancelled':
    case 'interrupted':
      return 'IDLE';
    default:
      return assertNever(finished);
  }
}
