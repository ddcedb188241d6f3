// Keys of creating commands (R6): claimed in the creating transaction, so that two at once are one.
import type { IdempotencyClaim } from '#domain';
import { AppError } from '#kernel';
import type { Tx } from '../database.js';
import { storable } from '../storable.js';

/** How long a key is remembered. */
const KEPT = '24 hours';

/** The stored first result, or undefined when this call is the first. Throws `request.idempotency_mismatch`. */
export async function claimKey(tx: Tx, claim: IdempotencyClaim): Promise<Record<string, unknown> | undefined> {
  const { userId, event, key, payloadHash } = claim;
  await tx.$executeRaw`DELETE FROM idempotency WHERE user_id = ${userId}::uuid AND event = ${event} AND key = ${key}
    AND created_at < now() - ${KEPT}::interval`;
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

/** Whether the key was used before; says nothing of the payload. */
export async function isKnownKey(tx: Tx, { userId, event, key }: IdempotencyClaim): Promise<boolean> {
  return (await tx.idempotency.findUnique({ where: { userId_event_key: { userId, event, key } } })) !== null;
}

export async function saveResult(tx: Tx, claim: IdempotencyClaim, result: Record<string, unknown>): Promise<void> {
  const { userId, event, key } = claim;
  await tx.idempotency.update({
    where: { userId_event_key: { userId, event, key } },
    data: { result: storable(result) },
  });
}

/** Drops keys that are too old to matter; gives back how many. */
export async function purgeKeys(tx: Tx): Promise<number> {
  return tx.$executeRaw`DELETE FROM idempotency WHERE created_at < now() - ${KEPT}::interval`;
}
