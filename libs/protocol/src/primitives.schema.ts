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
  .describe('The same key from the same user gives the first result again (kept 24 h)');
/** Text that ends up in an argument or a path: a NUL byte cannot be passed to a process. */
export const argument = z.string().refine((text) => !text.includes('\0'), { message: 'must not contain a NUL byte' });
/** The lane of a project in which a run waits its turn. */
export const lane = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower case letters, digits, - and _; at most 40');
export const title = z.string().trim().min(1).max(LIMITS.maxNameLength);
