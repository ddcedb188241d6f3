// Runs as clients ask for them: queueing, cancelling, listing. The worker's side is execution-store.port.ts.
import type { RunStatus } from '#kernel';
import type { Committed } from '../events/committed.js';
import type { Page, PageRequest } from '../events/page.js';
import type { SessionRecord } from '../sessions/session-record.js';
import type { IdempotencyClaim, Replayable } from './idempotency.js';
import type { QueueSnapshotRecord, RunRecord } from './run-record.js';

interface NewRun {
  projectId: string;
  userId: string;
  lane: string;
  timeoutMs: number;
  correlationId: string;
  /** `next`: ahead of all that are queued in its lane; `now`: what stands in its way is interrupted, too. Normally behind them. */
  priority?: 'normal' | 'next' | 'now';
  /** Where it could not be dispatched at once, nothing is stored and `session.locked` is thrown. */
  rejectIfBusy?: boolean;
  idempotency?: IdempotencyClaim;
}
export interface NewPrompt extends NewRun {
  prompt: string;
  /** Continue this conversation; without it the project's current one, or a new one. */
  sessionId?: string;
  options: Record<string, unknown>;
}
export interface NewCommand extends NewRun {
  argv: string[];
  shellCommand: string | null;
  commandId?: string;
  workingDir: string | null;
  /** `pipe`: it reads what people type (RunControl.input). Else its stdin is empty. */
  stdin?: 'pipe';
}
export interface QueuedRun {
  run: RunRecord;
  /** 0-based among the queued runs of its lane; undefined once it was dispatched. */
  position?: number;
}

/** Changes of a queued prompt; what is left out stays. */
export interface PromptEdit {
  prompt?: string;
  options?: Record<string, unknown>;
  timeoutMs?: number;
}
export type QueueLaneRecord = QueueSnapshotRecord['lanes'][number];

export interface RunStore {
  /** One transaction: the run, the user's message, the promotion of the lane. Throws `project.not_found`, `session.not_found`, `session.archived`. */
  enqueuePrompt(prompt: NewPrompt): Promise<Replayable<QueuedRun>>;
  enqueueCommand(command: NewCommand): Promise<Replayable<QueuedRun>>;
  /**
   * Changes what a queued prompt will ask, appends run.updated. Throws `run.not_found`, `run.not_queued`, and `request.invalid_payload`
   * for a run that is no prompt.
   */
  edit(runId: string, userId: string, changes: PromptEdit): Promise<Committed<QueuedRun>>;
  /**
   * Moves a queued run ahead of another one of its lane, or to the lane's end. Throws `run.not_found`, and `run.not_queued` when one of
   * the two is not queued in that lane.
   */
  move(runId: string, userId: string, beforeRunId?: string): Promise<Committed<QueuedRun>>;
  /** Nothing of the lane starts until it is resumed; what has begun goes on. Idempotent. Throws `project.not_found`. */
  pauseLane(projectId: string, lane: string, userId: string): Promise<Committed<QueueLaneRecord>>;
  resumeLane(projectId: string, lane: string, userId: string): Promise<Committed<QueueLaneRecord>>;
  /** A queued run ends at once; for an active one an intent is stored and its host woken. Throws `run.not_found`, `run.already_finished`. */
  cancel(runId: string, userId: string): Promise<Committed<RunRecord>>;
  /** The run that holds the lane. */
  activeOf(projectId: string, lane: string): Promise<RunRecord | undefined>;
  find(runId: string): Promise<RunRecord | undefined>;
  /** The run with its place in the queue. */
  findQueued(runId: string): Promise<QueuedRun | undefined>;
  list(projectId: string, filter: { status?: RunStatus }, page: PageRequest): Promise<Page<QueuedRun>>;
  queue(projectId: string): Promise<QueueSnapshotRecord>;
  /** Commands of a project, newest first, with the first characters of their output. */
  commandHistory(
    projectId: string,
    filter: { workingDir?: string; limit: number; previewChars: number },
  ): Promise<{ run: RunRecord; preview: string }[]>;
  /** Forgets the current conversation; appends session.reset. */
  resetSession(projectId: string, userId: string): Promise<Committed<{ oldSessionId: string | null }>>;
  findSession(sessionId: string): Promise<SessionRecord | undefined>;
  listSessions(
    viewer: { userId: string; isAdmin: boolean; projectId?: string },
    page: PageRequest,
  ): Promise<Page<SessionRecord>>;
}
