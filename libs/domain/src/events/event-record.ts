// Durable facts of a project, before and after they got their number.
import type { EventType } from '#kernel';

export interface EventDraft {
  type: EventType;
  sessionId?: string;
  runId?: string;
  /** The payload as it goes over the wire (snake_case; shapes in libs/protocol event-payloads). */
  payload: Record<string, unknown>;
  /** Chosen beforehand where the caller must know it. */
  eventId?: string;
}

export interface EventRecord {
  projectId: string;
  seq: number;
  eventId: string;
  type: EventType;
  sessionId: string | null;
  runId: string | null;
  payload: Record<string, unknown>;
  createdAt: Date;
}
