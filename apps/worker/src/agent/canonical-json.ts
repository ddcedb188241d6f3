// One text for one JSON value, whatever the order of its keys: what is hashed when two values must be told apart.
import { createHash } from 'node:crypto';

/**
 * JSON with the keys of every object in code unit order and no white space (RFC 8785 but for its number format, which
 * `JSON.stringify` already gives). Keys whose value is undefined are left out.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const sorted = Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return Object.fromEntries(sorted);
  });
}

/** SHA-256 of the canonical JSON, hex. */
export const hashOfJson = (value: unknown): string => sha256(canonicalJson(value));

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
