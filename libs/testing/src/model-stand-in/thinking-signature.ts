// Signatures of thinking blocks. As with the real API, a block that comes back changed is refused.
import { createHash } from 'node:crypto';
import type { Message } from './messages-request.schema.js';

const MARK = 'demo-model:';

/** The signature of a thinking text: base64, opaque to clients. */
export function signThinking(thinking: string): string {
  return Buffer.from(MARK + createHash('sha256').update(thinking).digest('hex')).toString('base64');
}

/**
 * Where the conversation holds a thinking block of the demo model that was changed, as `messages.{i}.content.{j}`. Blocks that
 * carry a signature of another model are let through: a conversation that began with the real API can go on here.
 */
export function findForgedThinking(messages: readonly Message[]): string | undefined {
  for (const [i, message] of messages.entries()) {
    if (typeof message.content === 'string') continue;
    for (const [j, block] of message.content.entries()) {
      if (block.type === 'thinking' && isForged(block['thinking'], block['signature']))
        return `messages.${i}.content.${j}`;
    }
  }
  return undefined;
}

function isForged(thinking: unknown, signature: unknown): boolean {
  if (typeof thinking !== 'string' || typeof signature !== 'string') return true;
  const ours = Buffer.from(signature, 'base64').toString('latin1').startsWith(MARK);
  return ours && signature !== signThinking(thinking);
}
