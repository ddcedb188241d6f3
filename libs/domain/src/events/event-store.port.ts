// Reading the durable events of a project.
import type { EventRecord } from './event-record.js';

export interface EventRange {
  events: EventRecord[];
  /** True when the limit or the byte bound left out events of the asked range. */
  truncated: boolean;
}

/** Both hold; the first event of a range always comes, so that a reader gets on. */
export interface PageBounds {
  limit: number;
  /** Bytes of all payloads as JSON. */
  maxBytes: number;
}

export interface ProjectHeads {
  /** Number of the newest event. */
  headSeq: number;
  /** Of the lanes: raised with each change. */
  queueRevision: number;
}

export interface PayloadRange {
  type: EventRecord['type'];
  bytes: Uint8Array;
  totalBytes: number;
}

export interface EventStore {
  /** Events with seq > afterSeq, oldest first. */
  after(projectId: string, afterSeq: number, bounds: PageBounds): Promise<EventRange>;
  /** The newest events with seq > afterSeq and < beforeSeq, in ascending order. */
  newest(
    projectId: string,
    bounds: PageBounds & { afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange>;
  /** Events created at or after a time, oldest first. */
  since(
    projectId: string,
    since: Date,
    bounds: PageBounds & { afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange>;
  /** Ascending page after a seq within one conversation. */
  ofSession(projectId: string, sessionId: string, afterSeq: number, bounds: PageBounds): Promise<EventRange>;
  /** Bytes of an event's payload as JSON, from `fromByte` on. Undefined when the project has no such event. */
  payloadBytes(
    projectId: string,
    eventId: string,
    range: { fromByte: number; maxBytes: number },
  ): Promise<PayloadRange | undefined>;
  seqOf(projectId: string, eventId: string): Promise<number | undefined>;
  /** Where many projects are, in one query; unknown ones are left out. */
  heads(projectIds: string[]): Promise<Map<string, ProjectHeads>>;
  cursorOf(userId: string, clientId: string, projectId: string): Promise<number | undefined>;
  /** Remembers how far a client has read; never moves backwards. */
  saveCursor(userId: string, clientId: string, projectId: string, seq: number): Promise<void>;
}
