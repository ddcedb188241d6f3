// How a run ends that its own work did not end: stopped by someone, or failed underneath.
import type { RunOutcome, RunRecord } from '#domain';
import { type AppError, assertNever } from '#kernel';
import type { StopReason } from './run-driver.port.js';

export type EndingReason = Exclude<StopReason, { kind: 'detach' }>;

export function stoppedOutcome(reason: EndingReason, run: RunRecord, activeMs: number): RunOutcome {
  switch (reason.kind) {
    case 'cancel':
      return { status: 'cancelled', error: { code: 'run.cancelled', message: 'The run was cancelled.' }, activeMs };
    case 'timeout':
      return {
        status: 'timed_out',
        error: {
          code: 'run.timed_out',
          message: `The run was stopped after ${run.timeoutMs} ms of work.`,
          details: { timeout_ms: run.timeoutMs },
        },
        activeMs,
      };
    case 'interrupt':
      return interruptedOutcome(activeMs);
    case 'shutdown':
      return {
        status: 'interrupted',
        error: { code: 'run.interrupted', message: 'The installation was shut down.' },
        activeMs,
      };
    default:
      return assertNever(reason);
  }
}

/** A person interrupted it. */
export const interruptedOutcome = (activeMs: number): RunOutcome => ({
  status: 'interrupted',
  error: { code: 'run.interrupted', message: 'The run was interrupted.' },
  activeMs,
});

export const failedOutcome = (error: AppError, activeMs: number): RunOutcome => ({
  status: 'failed',
  error: {
    code: error.code,
    message: error.message,
    ...(error.details === undefined ? {} : { details: error.details }),
  },
  activeMs,
});
