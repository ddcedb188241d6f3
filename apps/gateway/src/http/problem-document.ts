// HTTP errors as problem documents (RFC 9457), with the codes of the protocol's error object.
import { type AppError, ERROR_POLICY } from '#kernel';
import { toErrorObject } from '../transport/error-object.js';

export const PROBLEM_TYPE = 'application/problem+json';

export interface ProblemDocument {
  /** RFC 9457: `about:blank` means that title and status say it all; `code` is what programs read. */
  type: 'about:blank';
  title: string;
  status: number;
  code: string;
  retryable: boolean;
  correlation_id: string;
  details?: Record<string, unknown>;
  retry_after_ms?: number;
}

export function problemDocument(error: AppError, correlationId: string): ProblemDocument {
  const { kind, message, ...rest } = toErrorObject(error, correlationId);
  return { type: 'about:blank', title: message, status: ERROR_POLICY[kind].http, ...rest };
}
