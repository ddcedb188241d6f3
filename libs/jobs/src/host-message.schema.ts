// Requests and answers of the host channel as they travel through Redis (R5): JSON with a version, checked when read.
import { z } from 'zod';
import type { HostRequestHandlers, HostRequestName, HostRequests } from '#domain';
import { AppError, ERROR_CODES, type ErrorCode } from '#kernel';

/** The payload of every request, checked on the worker's side; the compiler holds it to the port. */
const REQUEST_PAYLOADS: { [N in HostRequestName]: z.ZodType<HostRequests[N]['request']> } = {
  'project.prepare_path': z.object({ path: z.string(), roots: z.array(z.string()) }),
  'project.wake': z.object({ projectId: z.string() }),
  'project.remove': z.object({ projectId: z.string() }),
};
const RESPONSE_PAYLOADS: { [N in HostRequestName]: z.ZodType<HostRequests[N]['response']> } = {
  'project.prepare_path': z.object({ realPath: z.string(), created: z.boolean() }),
  'project.wake': z.strictObject({}),
  'project.remove': z.object({ removed: z.boolean() }),
};
const NAMES = Object.keys(REQUEST_PAYLOADS) as [HostRequestName, ...HostRequestName[]];

const request = z.object({
  version: z.literal(1),
  id: z.string(),
  replyTo: z.string(),
  correlationId: z.string(),
  /** How long the asker waits, ms. */
  deadlineMs: z.int(),
  name: z.enum(NAMES),
  payload: z.unknown(),
});
export type HostRequestMessage = z.infer<typeof request>;

const wireError = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
});
const reply = z.object({
  version: z.literal(1),
  id: z.string(),
  outcome: z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), response: z.unknown() }),
    z.object({ ok: z.literal(false), error: wireError }),
  ]),
});
export type HostReplyMessage = z.infer<typeof reply>;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Refused by the schema like any other message that is not ours.
    return undefined;
  }
};
export const readHostRequest = (text: string): HostRequestMessage | undefined =>
  request.safeParse(parseJson(text)).data;
export const readHostReply = (text: string): HostReplyMessage | undefined => reply.safeParse(parseJson(text)).data;

/** Checks the payload and calls the handler of that name. */
export async function handleHostRequest<N extends HostRequestName>(
  handlers: HostRequestHandlers,
  name: N,
  payload: unknown,
): Promise<HostRequests[N]['response']> {
  const parsed = REQUEST_PAYLOADS[name].safeParse(payload);
  if (!parsed.success) throw new AppError('request.invalid_payload', 'The host cannot read this request.');
  return handlers[name](parsed.data);
}

export function readHostResponse<N extends HostRequestName>(name: N, response: unknown): HostRequests[N]['response'] {
  const parsed = RESPONSE_PAYLOADS[name].safeParse(response);
  if (parsed.success) return parsed.data;
  throw new AppError('internal.unexpected', 'The host gave an answer that cannot be read.', { cause: parsed.error });
}

export const toWireError = (error: AppError): z.infer<typeof wireError> => ({
  code: error.code,
  message: error.message,
  ...(error.details === undefined ? {} : { details: error.details }),
  ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
});

export function fromWireError(error: z.infer<typeof wireError>): AppError {
  const known = Object.hasOwn(ERROR_CODES, error.code);
  return new AppError(known ? (error.code as ErrorCode) : 'internal.unexpected', error.message, {
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(known ? {} : { cause: new Error(`unknown error code ${error.code}`) }),
  });
}
