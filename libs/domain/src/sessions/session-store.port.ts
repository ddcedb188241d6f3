// Conversations as clients change them. Reading them is part of run-store.port.ts.
import type { Committed } from '../events/committed.js';
import type { IdempotencyClaim, Replayable } from '../runs/idempotency.js';
import type { QueuedRun } from '../runs/run-store.port.js';
import type { SessionRecord } from './session-record.js';

export interface NewSession {
  projectId: string;
  userId: string;
  title?: string;
  model?: string;
  permissionMode?: string;
  idempotency?: IdempotencyClaim;
}

/** Null gives a wish back to the defaults. */
export interface SessionChanges {
  title?: string;
  model?: string | null;
  permissionMode?: string | null;
}

export interface NewCompaction {
  userId: string;
  timeoutMs: number;
  correlationId: string;
  idempotency?: IdempotencyClaim;
}

/** All but `create` throw `session.not_found` and `session.archived`. */
export interface SessionStore {
  /** A conversation that its project's next prompt continues; appends session.created. Throws `project.not_found`. */
  create(session: NewSession): Promise<Replayable<SessionRecord>>;
  /** A title that a person gave is not replaced. A run at work is told of model and permission mode by an intent. */
  update(sessionId: string, userId: string, changes: SessionChanges): Promise<Committed<SessionRecord>>;
  /** The project's next prompt continues it. */
  resume(sessionId: string): Promise<Committed<SessionRecord>>;
  /** For good; once more changes nothing. Throws `session.locked` with `details.blocker` while a run of it is not over. */
  archive(sessionId: string): Promise<Committed<SessionRecord>>;
  /** Queues a run that compacts it, in the lane of its last one. Throws `session.nothing_to_compact` for one that has not begun. */
  compact(sessionId: string, request: NewCompaction): Promise<Replayable<QueuedRun>>;
}
