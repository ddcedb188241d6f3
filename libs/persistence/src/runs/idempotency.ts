// Keys of creating commands (R6): claimed in the creating transaction, so that two at once are one.
import type { IdempotencyClaim } from '#domain';
import { AppError } from '#kernel';
import type { Database, Tx } from '../database.js';
import { storable } from '../storable.js';

/** How long a key is remembered where nothing else is set, ms. */
export const KEY_TTL_MS = 24 * 60 * 60 * 1000;

/** The stored first result, or undefined when this call is the first. Throws `request.idempotency_mismatch`. */
export async function claimKey(
  tx: Tx,
  claim: IdempotencyClaim,
  ttlMs: number,
): Promise<Record<string, unknown> | undefined> {
  const { userId, event, key, payloadHash } = claim;
  await tx.$executeRaw`DELETE FROM idempotency WHERE user_id = ${userId}::uuid AND event = ${event} AND key = ${key}
    AND created_at < now() - make_interval(secs => ${ttlMs / 1000}::float8)`;
  // Waits for another transaction that holds the same key, so that its result is seen here.
  const inserted = await tx.$executeRaw`INSERT INTO idempotency (user_id, event, key, payload_hash, result)
    VALUES (${userId}::uuid, ${event}, ${key}, ${payloadHash}, '{}') ON CONFLICT DO NOTHING`;
  if (inserted === 1) return undefined;
  const row = await tx.idempotency.findUniqueOrThrow({ where: { userId_event_key: { userId, event, key } } });
  if (row.payloadHash !== payloadHash) {
    throw new AppError('request.idempotency_mismatch', 'This idempotency_key was used with another payload.');
  }
  return row.result as Record<string, unknown>;
}

/** Whether the key was used before and still counts; says nothing of the payload. */
export async function isKnownKey(tx: Tx, { userId, event, key }: IdempotencyClaim, ttlMs: number): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`SELECT 1 FROM idempotency
    WHERE user_id = ${userId}::uuid AND event = ${event} AND key = ${key}
    AND created_at >= now() - make_interval(secs => ${ttlMs / 1000}::float8)`;
  return rows.length > 0;
}

export async function saveResult(tx: Tx, claim: IdempotencyClaim, result: Record<string, unknown>): Promise<void> {
  const { userId, event, key } = claim;
  await tx.idempotency.update({
    where: { userId_event_key: { userId, event, key } },
    data: { result: storable(result) },
  });
}

/** Removes the keys that are older than `ttlMs`, for all users; gives back how many. */
export async function purgeKeys(db: Database, ttlMs: number): Promise<number> {
  return db.run(
    (client) =>
      client.$executeRaw`DELETE FROM idempotency WHERE created_at < now() - make_interval(secs => ${ttlMs / 1000}::float8)`,
  );
}
