// Reading one message whole, whatever the size of messages that the client asked for.
import { z } from 'zod';
import { EVENT_TYPES } from '#kernel';
import { LIMITS } from './limits.js';
import { id, offset } from './primitives.schema.js';

export const messageEvents = {
  message_get: {
    summary: 'The payload of one event as JSON text, uncut, by range of bytes in whole characters.',
    role: 'viewer',
    request: z.strictObject({
      project_id: id,
      event_id: id,
      from_byte: offset.optional(),
      max_bytes: z.int().min(4).max(LIMITS.messageReadBytes.max).optional(),
    }),
    data: z.object({
      event_id: id,
      type: z.enum(EVENT_TYPES),
      text: z.string().describe('Pages joined are the whole payload as JSON'),
      from_byte: offset.describe('The first whole character from the from_byte asked for'),
      next_byte: offset,
      total_bytes: z.int(),
      is_complete: z.boolean(),
    }),
  },
} as const;
