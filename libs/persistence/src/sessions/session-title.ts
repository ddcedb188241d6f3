// The title that a conversation gets from its first prompt.
import { storableText } from '../storable.js';

/** The first line of a prompt, at most 80 characters. */
export const titleOf = (prompt: string): string => {
  const line = storableText(prompt).trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};
