// Signals to everything that a run's process started.
import type { ProcessSignal } from '#domain';
import { isAppError } from '#kernel';
import type { RunContext } from './run-driver.port.js';

/** False when there is no such process (yet). Throws what the connection throws otherwise. */
export async function signalTree(
  { claimed, heldProcess, connection }: Pick<RunContext, 'claimed' | 'heldProcess' | 'connection'>,
  signal: ProcessSignal,
): Promise<boolean> {
  const known = claimed.process;
  const held = heldProcess ?? (known === null ? undefined : { processId: known.processId, processEpoch: known.epoch });
  if (held === undefined) return false;
  try {
    await connection.signal(held.processId, { signal, scope: 'tree', epoch: held.processEpoch });
    return true;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox.process_not_found') return false;
    throw error;
  }
}
