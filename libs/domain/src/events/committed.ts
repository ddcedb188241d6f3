// What a transaction changed that others must hear of, handed to the announcer after the commit.
import type { QueueSnapshotRecord } from '../runs/run-record.js';
import type { EventRecord } from './event-record.js';

/** A run that the transaction promoted: now it becomes a BullMQ job (R2). */
export interface Dispatch {
  runId: string;
  hostId: string;
  projectId: string;
  dispatchNo: number;
  correlationId: string;
}

export interface Announcement {
  projectId: string;
  events: EventRecord[];
  /** Set where `events` were left out because they are large: they are in the store up to this seq. */
  headSeq?: number;
  dispatches: Dispatch[];
  /** Present when a lane changed. */
  queue?: QueueSnapshotRecord;
  /** Hosts whose worker should look at its open intents now (R5). */
  wakeHostIds: string[];
}

export interface Committed<T> {
  result: T;
  announcement: Announcement;
}
