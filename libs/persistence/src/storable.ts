// What Postgres cannot hold in text and jsonb - U+0000 and unpaired surrogates - becomes U+FFFD rather than losing the whole row.
import type { Prisma } from './generated/client.js';

const UNSTORABLE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\0/g;

export const storableText = (text: string): string => text.replace(UNSTORABLE, '\ufffd');

function clean(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [storableText(key), clean(entry)]));
}

/** A JSON value (undefined members are dropped) that Postgres accepts. */
export const storable = (value: Record<string, unknown>): Prisma.InputJsonObject =>
  JSON.parse(JSON.stringify(clean(value))) as Prisma.InputJsonObject;

export const storableList = (value: unknown[]): Prisma.InputJsonArray =>
  JSON.parse(JSON.stringify(clean(value))) as Prisma.InputJsonArray;
