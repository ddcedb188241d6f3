// The part of a Messages API request that the demo model reads. Everything else in a request is accepted and ignored.
import { z } from 'zod';

/** One block of a message's content; only `type` is certain, the rest depends on it. */
const contentBlock = z.looseObject({ type: z.string() });

const content = z.union([z.string(), z.array(contentBlock)]);

/** Claude Code also sends `system` messages in the middle of a conversation (beta of 2026). */
const message = z.object({ role: z.enum(['user', 'assistant', 'system']), content });

const tool = z.looseObject({ name: z.string().optional(), type: z.string().optional() });

const thinking = z.looseObject({
  type: z.enum(['enabled', 'adaptive', 'between_tools', 'disabled']),
  display: z.enum(['summarized', 'omitted', 'updates']).nullish(),
});

const shared = {
  model: z.string().min(1),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
  tools: z.array(tool).optional(),
  thinking: thinking.nullish(),
};

/** Body of `POST /v1/messages`. Source: https://docs.claude.com/en/api/messages */
export const messagesRequestSchema = z.looseObject({
  ...shared,
  max_tokens: z.number().int().positive(),
  stream: z.boolean().optional(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish() }).nullish(),
});

/** Body of `POST /v1/messages/count_tokens`. Source: https://docs.claude.com/en/api/messages-count-tokens */
export const countTokensRequestSchema = z.looseObject(shared);

export type MessagesRequest = z.infer<typeof messagesRequestSchema>;
export type CountTokensRequest = z.infer<typeof countTokensRequestSchema>;
export type Message = z.infer<typeof message>;
export type ContentBlock = z.infer<typeof contentBlock>;
