// Where the connection to the server stands, and what each happening makes of it. Pure.
import type { ServerPush } from '#protocol';
import type { Problem } from '../state/problem.js';

export type Hello = ServerPush<'hello'>;

export type ConnectionState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected'; readonly hello: Hello }
  /** Was lost or never came about; tried again at `retryAt` (ms of Date.now), or now when that is undefined. */
  | {
      readonly status: 'reconnecting';
      readonly attempt: number;
      readonly retryAt: number | undefined;
      readonly problem: Problem | undefined;
      /** That of the last connection, so that the page stays as it was. */
      readonly hello: Hello | undefined;
    }
  /** The server said no in a way that trying again does not change. */
  | { readonly status: 'refused'; readonly problem: Problem }
  | { readonly status: 'closed' };

export type ConnectionAction =
  | { type: 'opened'; hello: Hello }
  | { type: 'lost'; attempt: number; retryAt: number; problem?: Problem }
  | { type: 'retrying' }
  | { type: 'refused'; problem: Problem }
  | { type: 'closed' };

export function connectionReducer(state: ConnectionState, action: ConnectionAction): ConnectionState {
  if (state.status === 'closed') return state; // what comes in after signing out changes nothing
  switch (action.type) {
    case 'opened':
      return { status: 'connected', hello: action.hello };
    case 'lost': {
      const { attempt, retryAt, problem } = action;
      return { status: 'reconnecting', attempt, retryAt, problem, hello: lastHello(state) };
    }
    case 'retrying':
      return state.status === 'reconnecting' ? { ...state, retryAt: undefined } : state;
    case 'refused':
      return { status: 'refused', problem: action.problem };
    case 'closed':
      return { status: 'closed' };
  }
}

export function lastHello(state: ConnectionState): Hello | undefined {
  return state.status === 'connected' || state.status === 'reconnecting' ? state.hello : undefined;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/**
 * Wait before the next attempt, ms: doubled each time up to 15 s, between half of that and all of it, so that many pages do not
 * come back at once. `random` is in [0, 1); `attempt` counts from 1. Never less than what the server asked for.
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.max(askedMs, Math.round(longest * (0.5 + random / 2)));
}
