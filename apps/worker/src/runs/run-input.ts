// Writes what people type to a command at work: in order, each piece once (R8), and recorded under the run's fence.
import type { ControlFence, InputPiece, RunControlStore } from '#domain';
import { isAppError } from '#kernel';
import { pause } from '../timing/pause.js';
import type { RunContext } from './run-driver.port.js';

const RETRY_MS = 100;

export type InputStore = Pick<RunControlStore, 'waitingInput' | 'inputWritten'>;

/** Resolves when nothing waits any more, or when `over`. What could not be written yet stays where it is. */
export async function writeInput(store: InputStore, context: RunContext, over: AbortSignal): Promise<void> {
  const { runId, projectId } = context.claimed.run;
  const fence: ControlFence = { ...context.fence, projectId };
  for (;;) {
    const pieces = await store.waitingInput(runId);
    if (pieces.length === 0) return;
    for (const piece of pieces) {
      const written = await writePiece(context, piece, over);
      if (written === 'later') return;
      await store.inputWritten(fence, { intentId: piece.intentId, closed: written === 'closed' });
    }
  }
}

async function writePiece(
  { connection, heldProcess }: RunContext,
  { inputSeq, data, eof }: InputPiece,
  over: AbortSignal,
): Promise<'done' | 'closed' | 'later'> {
  if (heldProcess === undefined) return 'later';
  const { processId, processEpoch: epoch } = heldProcess;
  while (!over.aborted) {
    try {
      if (data.length > 0) await connection.input(processId, { key: `stdin/${inputSeq}`, data, epoch });
      if (eof) await connection.closeInput(processId, { epoch });
      return 'done';
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (error.code === 'sandbox.input_closed') return 'closed';
      // Registered, and not started yet.
      if (error.code === 'sandbox.process_not_found') return 'later';
      if (error.code !== 'sandbox.input_full') throw error;
      await pause(error.retryAfterMs ?? RETRY_MS, over);
    }
  }
  return 'later';
}
