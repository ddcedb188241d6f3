// What an error means for the run in whose work it came up: let go, try again, or end it. One table, so that no caller decides.
import { AppError, type ErrorCode, toAppError } from '#kernel';
import { DetachedError } from './run-driver.port.js';

export type FailureVerdict =
  /** Someone else has the run, or will have: change nothing. */
  | { kind: 'let_go'; fencedBy?: 'database' | 'sandbox' }
  /** Infrastructure is away: attach again, within bounds. `asFailure` is how the run ends when they are over. */
  | { kind: 'retry'; error: AppError; asFailure: AppError }
  | { kind: 'fail'; error: AppError };

const LET_GO: ReadonlyMap<ErrorCode, 'database' | 'sandbox'> = new Map([
  ['write.fenced', 'database'],
  ['host.lease_lost', 'database'],
  ['sandbox.epoch_stale', 'sandbox'],
]);

/** `started`: something of the run was started before, so its sandbox did work once and is expected to come back. */
export function judgeFailure(thrown: unknown, { started }: { started: boolean }): FailureVerdict {
  if (thrown instanceof DetachedError) return { kind: 'let_go' };
  const error = toAppError(thrown);
  const fencedBy = LET_GO.get(error.code);
  if (fencedBy !== undefined) return { kind: 'let_go', fencedBy };
  // Also when the container went away between `ensure` and `connect`: it is started again.
  const isAway = error.code === 'sandbox.lost' || error.code === 'sandbox.connection_lost';
  if (isAway || (started && error.code === 'sandbox.start_failed')) {
    const asFailure = new AppError('sandbox.lost', 'The sandbox was lost and could not be reached again.', {
      cause: error,
    });
    return { kind: 'retry', error, asFailure };
  }
  return error.retryable ? { kind: 'retry', error, asFailure: error } : { kind: 'fail', error };
}
