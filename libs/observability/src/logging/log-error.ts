// Logging of an error by the error table: the kind decides the level, so that no edge decides on its own.
import { ERROR_POLICY, toAppError } from '#kernel';
import type { Logger } from './create-logger.js';

/**
 * One line for anything thrown, at the level of its kind (a caller's mistake is `info`, a fault of ours `error`).
 * `context` says where it happened, in snake_case: `correlation_id`, `run_id`, `event`…
 */
export function logError(logger: Logger, thrown: unknown, context: Record<string, unknown> = {}): void {
  const error = toAppError(thrown);
  logger[ERROR_POLICY[error.kind].log](
    { ...context, error_code: error.code, error_kind: error.kind, err: error },
    error.message,
  );
}
