// Opaque keyset cursors: the sort key of the last row seen.
import { AppError } from '#kernel';

export interface PageKey {
  at: Date;
  id: string;
}

export const encodeCursor = (key: PageKey): string =>
  Buffer.from(JSON.stringify([key.at.toISOString(), key.id])).toString('base64url');

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Times of which Postgres knows, and in which anything could have been stored. */
const OUR_TIME = /^(19|20)\d\d-.*Z$/;

/** Throws `request.invalid_payload` for anything that encodeCursor did not make. */
export function decodeCursor(cursor: string): PageKey {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if (typeof at === 'string' && OUR_TIME.test(at) && typeof id === 'string' && UUID.test(id)) {
      const date = new Date(at);
      if (!Number.isNaN(date.getTime())) return { at: date, id };
    }
  } catch (error) {
    throw new AppError('request.invalid_payload', 'The cursor is not one of ours.', { cause: error });
  }
  throw new AppError('request.invalid_payload', 'The cursor is not one of ours.');
}

/** Cuts the one row fetched beyond the limit and turns it into the next cursor. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => PageKey,
  map: (row: Row) => Item,
): { items: Item[]; nextCursor?: string } {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return {
    items: kept.map(map),
    ...(rows.length > limit && last !== undefined ? { nextCursor: encodeCursor(keyOf(last)) } : {}),
  };
}
