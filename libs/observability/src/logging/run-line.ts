// The one wide line of a finished run: everything about it that an operator sorts and adds up, without a join.
import type { ErrorCode, FinalRunStatus, RunKind } from '#kernel';
import type { Logger } from './create-logger.js';

/** Durations in ms; null where the run never got that far. Sandbox time is the wait for a ready container. */
export interface RunLine {
  run_id: string;
  project_id: string;
  session_id: string | null;
  kind: RunKind;
  status: FinalRunStatus;
  correlation_id: string | null;
  host_id: string | null;
  /** From being accepted to being taken by a worker. */
  queue_wait_ms: number | null;
  sandbox_ms: number | null;
  /** From being taken by a worker to the first byte of output. */
  first_output_ms: number | null;
  /** Without the time spent waiting for people or paused (R14). */
  active_ms: number | null;
  /** What this run alone cost (R7: a difference, never the process's running total). */
  cost_usd: number | null;
  exit_code: number | null;
  error_code: ErrorCode | null;
}

/** Writes the line, at `info` whatever the end: a run that fails is a result, not a fault of the service. Once per run. */
export function logRunLine(logger: Logger, line: RunLine): void {
  logger.info(line, 'run finished');
}
