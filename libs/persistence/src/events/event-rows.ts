// Rows of `event` as records.
import type { EventRecord } from '#domain';
import type { EventType } from '#kernel';
import type { Event } from '../generated/client.js';

export const toEvent = (row: Event): EventRecord => ({
  projectId: row.projectId,
  seq: Number(row.seq),
  eventId: row.id,
  type: row.type as EventType,
  sessionId: row.sessionId,
  runId: row.runId,
  payload: row.payload as Record<string, unknown>,
  createdAt: row.createdAt,
});
