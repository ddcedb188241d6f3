// Anything thrown, as the one error object that clients see.
import { AppError, toAppError } from '#kernel';
import type { ErrorObject } from '#protocol';

const INTERNAL_MESSAGE = 'Something went wrong on our side.';

/** Errors of the kind `internal` keep their words for the log: a client gets the correlation id to ask about. */
export function toErrorObject(thrown: unknown, correlationId: string): ErrorObject {
  const error = toAppError(thrown);
  const internal = error.kind === 'internal';
  return {
    code: error.code,
    kind: error.kind,
    message: internal ? INTERNAL_MESSAGE : error.message,
    retryable: error.retryable,
    correlation_id: correlationId,
    ...(error.details === undefined || internal ? {} : { details: error.details }),
    ...(error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs }),
  };
}

/** What socket.io sends as `connect_error`: its `data` is the error object, its message ours. */
export class HandshakeRefused extends Error {
  override readonly name = 'HandshakeRefused';
  readonly data: ErrorObject;

  constructor(error: AppError, correlationId: string) {
    super(toErrorObject(error, correlationId).message, { cause: error });
    this.data = toErrorObject(error, correlationId);
  }
}
