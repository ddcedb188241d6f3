// The scalar shapes that every message is made of.
import { z } from 'zod';
import { LIMITS } from './limits.js';

export const id = z.uuid().toLowerCase().describe('UUID, lower case');
export const timestamp = z.iso.datetime({ precision: 3 }).describe('ISO-8601 UTC with milliseconds');
export const seq = z.int().min(0).describe("Sequence number of a project's event");
export const offset = z.int().min(0).describe('Byte offset');
export const cursor = z.string().min(1).max(500).describe('Opaque; from next_cursor of the page before');
export const pageLimit = z.int().min(1).max(LIMITS.pageMax);
export const idempotencyKey = z
  .string()
  .min(1)
  .max(200)
  .describe(
    'The same key from the same user gives the first result again (kept 24 h unless the operator sets another time)',
  );
const UNPAIRED_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** What a user sends is kept as it is or refused: neither a process nor Postgres can take these. */
export const isPassable = (text: string): boolean => !text.includes('\0') && !UNPAIRED_SURROGATE.test(text);

/** C0 and C1 controls, line separators, and what sets the direction of text; NUL has rules of its own. */
const UNSHOWABLE = /[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Whether a name or a path reads as what it is, in a list, a log line or a terminal. */
export const isShowable = (text: string): boolean => !UNSHOWABLE.test(text);
export const SHOWABLE_RULE = 'must not contain control characters or ones that turn text';

/** Bytes of a text in UTF-8. */
export const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Text that ends up in an argument or a path. */
export const argument = z
  .string()
  .refine(isPassable, { message: 'must not contain a NUL byte or half a surrogate pair' });

const MAX_DEPTH = 64;

/** Whether every text within a JSON value is passable and it is not nested deeper than 64. */
export function isPassableJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isPassable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(([key, entry]) => isPassable(key) && isPassableJson(entry, depth + 1));
}
/** The lane of a project in which a run waits its turn. */
export const lane = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower case letters, digits, - and _; at most 40');
export const title = argument
  .refine(isShowable, { message: SHOWABLE_RULE, abort: true })
  .trim()
  .min(1)
  .max(LIMITS.maxNameLength);
