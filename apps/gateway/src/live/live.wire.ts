// Events and live text as clients see them.
import type { DeltaFrame, EventRecord } from '#domain';
import type { Delta, EventInfo } from '#protocol';
import { limitPermission } from '../permissions/permission.wire.js';
import { limitTexts } from '../transport/text-limit.js';

/** `maxMessageBytes`: the client's own limit; longer texts of the payload are cut in the middle. */
export const toEventInfo = (event: EventRecord, maxMessageBytes: number): EventInfo => ({
  project_id: event.projectId,
  seq: event.seq,
  event_id: event.eventId,
  ...(event.sessionId === null ? {} : { session_id: event.sessionId }),
  ...(event.runId === null ? {} : { run_id: event.runId }),
  type: event.type,
  created_at: event.createdAt.toISOString(),
  payload: (event.type === 'permission.requested' ? limitPermission : limitTexts)(event.payload, maxMessageBytes),
});

export const toDelta = (frame: DeltaFrame): Delta => ({
  project_id: frame.projectId,
  run_id: frame.runId,
  message_id: frame.messageId,
  block_index: frame.blockIndex,
  block_type: frame.blockType,
  offset: frame.offset,
  text: frame.text,
});
