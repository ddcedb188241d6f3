// What a client says when it connects (socket.io's `auth`).
import { z } from 'zod';
import { LIMITS } from './limits.js';

export const handshake = z.object({
  token: z.string().min(1).max(500),
  protocol: z.int(),
  client_id: z.string().min(1).max(100).optional().describe('Stable per browser or device, for its read cursor'),
  max_message_kb: z.int().min(LIMITS.maxMessageKb.min).max(LIMITS.maxMessageKb.max).optional(),
});
export type Handshake = z.infer<typeof handshake>;
