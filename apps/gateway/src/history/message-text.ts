// One message whole, by range: pages of its JSON that join to all of it, whole characters only.
import type { EventStore } from '#domain';
import { AppError } from '#kernel';
import type { ClientData, ClientRequest } from '#protocol';
import { leadingRest, unfinishedBytes } from './utf8-edges.js';

/** Throws `message.not_found`, and `stream.offset_invalid` for a range that begins behind the end. */
export async function readMessage(
  events: Pick<EventStore, 'payloadBytes'>,
  { project_id: projectId, event_id: eventId, from_byte: fromByte = 0 }: ClientRequest<'message_get'>,
  maxBytes: number,
): Promise<ClientData<'message_get'>> {
  const range = await events.payloadBytes(projectId, eventId, { fromByte, maxBytes });
  if (range === undefined) throw new AppError('message.not_found', 'There is no such message.');
  const { type, bytes, totalBytes } = range;
  if (fromByte > totalBytes) {
    throw new AppError('stream.offset_invalid', 'The message is not that long.', {
      details: { total_bytes: totalBytes },
    });
  }
  const skipped = leadingRest(bytes);
  const end = fromByte + bytes.length;
  const length = bytes.length - (end < totalBytes ? unfinishedBytes(bytes) : 0);
  const whole = Buffer.from(bytes.subarray(Math.min(skipped, length), length));
  return {
    event_id: eventId,
    type,
    text: whole.toString('utf8'),
    from_byte: fromByte + skipped,
    next_byte: fromByte + length,
    total_bytes: totalBytes,
    is_complete: fromByte + length >= totalBytes,
  };
}
