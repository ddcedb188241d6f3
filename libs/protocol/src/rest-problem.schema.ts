// HTTP errors: problem documents (RFC 9457) with the codes of the protocol's error object.
import { z } from 'zod';
import { errorObject } from './error.schema.js';

export const problem = z.object({
  type: z.literal('about:blank').describe('Title and status say it all; `code` is what programs read'),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: errorObject.shape.code,
  retryable: z.boolean(),
  correlation_id: z.string().describe('Also the header X-Correlation-Id; the logs have it'),
  details: errorObject.shape.details,
  retry_after_ms: errorObject.shape.retry_after_ms,
});
export type Problem = z.infer<typeof problem>;
