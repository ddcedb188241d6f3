// The life of a conversation: one transition table (R14). Its status follows its run while one is at work, and stays when none is.
import type { FinalRunStatus, SessionStatus } from '#kernel';
import { AppError } from '#kernel';

export const SESSION_TRANSITIONS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  created: ['starting', 'archived'],
  starting: ['running', 'completed', 'paused', 'crashed', 'failed'],
  running: ['completed', 'paused', 'crashed', 'failed'],
  completed: ['starting', 'archived'],
  // Either its last run was stopped, or a person holds the one that it has.
  paused: ['starting', 'running', 'completed', 'crashed', 'failed', 'archived'],
  crashed: ['starting', 'archived'],
  failed: ['starting', 'archived'],
  archived: [],
};

export const canMoveSession = (from: SessionStatus, to: SessionStatus): boolean =>
  SESSION_TRANSITIONS[from].includes(to);

/** Where a conversation may come from to get there. */
export const sessionStatusesBefore = (to: SessionStatus): SessionStatus[] =>
  (Object.keys(SESSION_TRANSITIONS) as SessionStatus[]).filter((from) => canMoveSession(from, to));

/** Throws `session.archived`. */
export function requireUnarchived(session: { status: SessionStatus }): void {
  if (session.status === 'archived') throw new AppError('session.archived', 'The conversation is archived.');
}

/** What the end of a run makes of its conversation when its driver does not say. `resumable`: the agent has written it down. */
export function sessionStatusAfter(ended: FinalRunStatus, resumable: boolean): SessionStatus {
  switch (ended) {
    case 'succeeded':
      return 'completed';
    case 'failed':
      return resumable ? 'crashed' : 'failed';
    case 'cancelled':
    case 'timed_out':
    case 'interrupted':
      return 'paused';
  }
}
