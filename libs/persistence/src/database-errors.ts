// Postgres' and Prisma's errors in Gantry's words. Nothing of the SQL or of the connection reaches a client.
import { AppError, isAppError } from '#kernel';

interface ForeignError {
  code?: unknown;
  name?: unknown;
  message?: unknown;
  meta?: unknown;
  cause?: unknown;
}

const asForeign = (error: unknown): ForeignError => (typeof error === 'object' && error !== null ? error : {});

/** Every code found along an error and its causes: Prisma wraps the driver's error, which carries the SQLSTATE. */
function codesOf(error: unknown, depth = 0): string[] {
  if (depth > 5 || typeof error !== 'object' || error === null) return [];
  const { code, cause, meta } = asForeign(error);
  const original = (error as { originalCode?: unknown }).originalCode;
  const nested = asForeign(meta) as { code?: unknown; driverAdapterError?: unknown };
  const own = [code, original, nested.code].filter((value): value is string => typeof value === 'string');
  return [...own, ...codesOf(cause, depth + 1), ...codesOf(nested.driverAdapterError, depth + 1)];
}

/** 40001 serialization failure, 40P01 deadlock; P2034 is Prisma's word for both. */
export const isSerializationConflict = (error: unknown): boolean =>
  codesOf(error).some((code) => code === '40001' || code === '40P01' || code === 'P2034');

/** 23505: a unique index refused the row (P2002 in Prisma). */
export const isUniqueViolation = (error: unknown): boolean =>
  codesOf(error).some((code) => code === '23505' || code === 'P2002');

// Class 08 connection exceptions, 25P03 idle for too long in a transaction, 57P0x shutdown, 53300 too many connections, and what the driver and the pool say.
const UNAVAILABLE =
  /^(08...|25P03|57P0.|53...|P1001|P1002|P1008|P1017|P1018|P2024|P2028|P2037|ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH)$/;
const UNAVAILABLE_TEXT =
  /(idle-in-transaction timeout|connection (terminated|timeout|refused|closed)|timeout exceeded when trying to connect|server (has )?closed the connection|operation has timed out|too many database connections|ECONNREFUSED|ECONNRESET|DatabaseNotReachable|ConnectionClosed|Can't reach database|not queryable|cannot connect now)/i;

export function translateDatabaseError(error: unknown): AppError {
  if (isAppError(error)) return error;
  const { message, cause } = asForeign(error);
  const text = `${typeof message === 'string' ? message : ''} ${JSON.stringify(cause ?? '')}`;
  if (codesOf(error).some((code) => UNAVAILABLE.test(code)) || UNAVAILABLE_TEXT.test(text)) {
    return new AppError('service.unavailable', 'The database is not reachable at the moment.', {
      cause: error,
      retryAfterMs: 1000,
    });
  }
  return new AppError('internal.unexpected', 'Something went wrong on our side.', { cause: error });
}
