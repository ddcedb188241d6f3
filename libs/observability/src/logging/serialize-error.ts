// How an error looks in a log line: its code and kind, the whole chain of causes, and nothing that a client typed.
import { isAppError } from '#kernel';

export interface SerializedError {
  name: string;
  message: string;
  /** Of an AppError: the closed code; of a foreign one: its own (`ECONNREFUSED`, `P2002`), if it has one. */
  code?: string;
  kind?: string;
  details?: Record<string, unknown>;
  /** Frames only: V8 repeats the message in a stack's first line. */
  stack?: string;
  cause?: SerializedError;
}

/** Foreign messages can quote whole statements and documents. In UTF-16 units. */
const MAX_MESSAGE_CHARS = 1000;
const MAX_CAUSES = 8;

/** Prisma's messages quote the arguments of the call (prompts among them) and end with the reason: only that line is kept. */
const safeMessage = (error: Error): string => {
  const text = error.name.startsWith('PrismaClient')
    ? (error.message.trimEnd().split('\n').at(-1) ?? '')
    : error.message;
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}… (${text.length} characters)` : text;
};

const framesOf = (error: Error): string | undefined =>
  error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim())
    .join('\n');

const codeOf = (error: Error): string | undefined => {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
};

/** Also for errors of another realm (a vm context), which `instanceof` does not know. */
const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';

/** Anything thrown, as plain data for a log line. Never throws. */
export function serializeError(thrown: unknown, depth = 0): SerializedError {
  if (!isError(thrown)) return { name: typeof thrown, message: 'A value that is not an error was thrown.' };
  const code = codeOf(thrown);
  const stack = framesOf(thrown);
  return {
    name: thrown.name,
    message: safeMessage(thrown),
    ...(code === undefined ? {} : { code }),
    ...(isAppError(thrown) ? { kind: thrown.kind } : {}),
    ...(isAppError(thrown) && thrown.details !== undefined ? { details: thrown.details } : {}),
    ...(stack === undefined || stack === '' ? {} : { stack }),
    ...(thrown.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: serializeError(thrown.cause, depth + 1) }),
  };
}
