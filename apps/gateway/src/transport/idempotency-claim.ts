// The key under which a creating command may be sent twice (R6).
import { createHash } from 'node:crypto';
import type { IdempotencyClaim } from '#domain';
import type { ClientEventName } from '#protocol';

/** JSON with sorted keys, so that two spellings of one payload are one. For values that came as JSON. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}

/** Undefined without a key. The hash covers everything but the key itself. */
export function idempotencyClaim(
  event: ClientEventName,
  userId: string,
  request: { idempotency_key?: string | undefined },
): { idempotency: IdempotencyClaim } | undefined {
  const { idempotency_key: key, ...payload } = request;
  if (key === undefined) return undefined;
  const payloadHash = createHash('sha256').update(canonicalJson(payload)).digest('hex');
  return { idempotency: { userId, event, key, payloadHash } };
}
