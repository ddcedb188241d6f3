// HTTP errors as problem documents (RFC 9457), with the codes of the protocol's error object.
import { type AppError, httpStatusOf } from '#kernel';
import type { Problem } from '#protocol';
import { toErrorObject } from '../transport/error-object.js';

export const PROBLEM_TYPE = 'application/problem+json';

export function problemDocument(error: AppError, correlationId: string): Problem {
  const { kind: _, message, ...rest } = toErrorObject(error, correlationId);
  return { type: 'about:blank', title: message, status: httpStatusOf(error.code), ...rest };
}
