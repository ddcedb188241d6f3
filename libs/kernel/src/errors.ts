// The closed list of errors that Gantry can tell a client, and the class that carries them.
import { ERROR_CODES, type ErrorCode } from './error-codes.js';
import type { ErrorKind } from './error-policy.js';
import { ERROR_POLICY } from './error-policy.js';

export interface AppErrorOptions {
  /** Facts that are safe to show to a client: no internal path, no stack, no SQL, no secret. */
  details?: Record<string, unknown>;
  /** When the same request may succeed, in ms from now. */
  retryAfterMs?: number;
  /** What went wrong underneath; logged, never sent. */
  cause?: unknown;
}

/**
 * Every error that crosses a boundary of Gantry. `code` is from a closed list (`area.reason`), `kind` follows from the code
 * and decides everything else (ack, HTTP status, BullMQ, log level) through `ERROR_POLICY`.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  // No parameter property: tools/ runs on Node's type stripping and imports the kernel's types.
  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = ERROR_CODES[code];
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }

  get retryable(): boolean {
    return ERROR_POLICY[this.kind].retryable;
  }
}

export const isAppError = (value: unknown): value is AppError => value instanceof AppError;

/** Anything thrown, as an AppError: foreign errors become `internal.unexpected` with the original as cause. */
export function toAppError(value: unknown): AppError {
  return isAppError(value)
    ? value
    : new AppError('internal.unexpected', 'Something went wrong on our side.', { cause: value });
}

/** For the default branch of a switch over a closed union: a new member is a compile error here. */
export function assertNever(value: never): never {
  throw new AppError('internal.unexpected', 'An impossible case was reached.', { cause: value });
}
