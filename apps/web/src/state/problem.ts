// What went wrong, as the page shows it: the server's error object, or one of the few that the page itself finds out.
import { ERROR_KINDS, type ErrorKind } from '#kernel';
import { z } from 'zod';

/** Found out by the page: `offline` nothing was sent; `connection_lost` and `no_answer` it may have arrived. */
export type ClientProblemCode = 'client.offline' | 'client.connection_lost' | 'client.no_answer' | 'client.unreadable';

export interface Problem {
  /** A code of the protocol's closed list, one of a newer server, or one of `ClientProblemCode`. */
  readonly code: string;
  readonly kind: ErrorKind;
  /** A sentence for people: the server's; empty for the page's own, whose words are in the text file. */
  readonly message: string;
  readonly retryable: boolean;
  readonly correlationId?: string | undefined;
  readonly details?: Record<string, unknown> | undefined;
  readonly retryAfterMs?: number | undefined;
}

const wireError = z.object({
  code: z.string(),
  kind: z.enum(ERROR_KINDS).catch('internal'),
  message: z.string(),
  retryable: z.boolean().catch(false),
  correlation_id: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
  retry_after_ms: z.number().optional(),
});

/** Reads the server's error object; a code or kind of a newer server is accepted. Undefined when it is none. */
export function readProblem(value: unknown): Problem | undefined {
  const parsed = wireError.safeParse(value);
  if (!parsed.success) return undefined;
  const { correlation_id: correlationId, retry_after_ms: retryAfterMs, ...rest } = parsed.data;
  return { ...rest, correlationId, retryAfterMs };
}

const KIND_OF: Record<ClientProblemCode, ErrorKind> = {
  'client.offline': 'unavailable',
  'client.connection_lost': 'unavailable',
  'client.no_answer': 'timeout',
  'client.unreadable': 'internal',
};

export function clientProblem(code: ClientProblemCode, message = ''): Problem {
  return { code, kind: KIND_OF[code], message, retryable: code !== 'client.unreadable' };
}

/** A problem as something that can be thrown. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(readonly problem: Problem) {
    super(problem.message || problem.code);
  }
}

/** The problem behind anything thrown; what nobody foresaw shows its own message. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return clientProblem('client.unreadable', error instanceof Error ? error.message : String(error));
}
