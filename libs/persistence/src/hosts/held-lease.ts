// Whether a worker still holds its host, asked inside a transaction.
import type { HostLease } from '#domain';
import { AppError } from '#kernel';
import type { Tx } from '../database.js';

/** Throws `host.lease_lost`. */
export async function requireLease(tx: Tx, lease: HostLease): Promise<void> {
  const [row] = await tx.$queryRaw<unknown[]>`SELECT id FROM host WHERE id = ${lease.hostId}::uuid
    AND holder_id = ${lease.holderId}::uuid AND epoch = ${lease.epoch}`;
  if (row === undefined) throw new AppError('host.lease_lost', 'This worker does not hold the host any more.');
}
