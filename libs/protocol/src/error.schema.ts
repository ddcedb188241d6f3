// The one error object of acks, refused handshakes and pushes.
import { z } from 'zod';
import { ERROR_CODES, ERROR_KINDS, type ErrorCode } from '#kernel';

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

export const errorObject = z.object({
  code: z.enum(codes),
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  retryable: z.boolean(),
  correlation_id: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retry_after_ms: z.int().optional(),
});
export type ErrorObject = z.infer<typeof errorObject>;

export type Ack<T> = { ok: true; data: T } | { ok: false; error: ErrorObject };
