// Sends a long answer as fast as its reader takes it, and gives up a reader that takes nothing.
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { AppError } from '#kernel';

/** A reader that takes nothing for so long is gone. */
const STALLED_MS = 60_000;

/**
 * Writes all pieces and ends the answer. Nothing is read ahead of what the reader has taken, so that the memory that it costs is a piece.
 * Where something fails in the middle the connection is cut: the reader must see that the answer is not whole.
 */
export async function sendPaced(
  response: Writable,
  pieces: AsyncIterable<Uint8Array | string>,
  gone: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    if (gone.aborted) break;
    if (!response.write(piece)) await drained(response, gone);
  }
  if (gone.aborted) response.destroy();
  else response.end();
}

async function drained(response: Writable, gone: AbortSignal): Promise<void> {
  const stalled = AbortSignal.timeout(STALLED_MS);
  try {
    await once(response, 'drain', { signal: AbortSignal.any([gone, stalled]) });
  } catch (error) {
    if (gone.aborted) return;
    throw new AppError('service.timeout', 'The reader took nothing for too long.', { cause: error });
  }
}
