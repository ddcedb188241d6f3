import fc from 'fast-check';
import { FINAL_RUN_STATUSES, type SessionStatus, SESSION_STATUSES } from '#kernel';
import {
  canMoveSession,
  requireUnarchived,
  SESSION_TRANSITIONS,
  sessionStatusAfter,
  sessionStatusesBefore,
} from './session-lifecycle.js';

const status = fc.constantFrom<SessionStatus>(...SESSION_STATUSES);
/** While a run of the conversation is at work it is in one of these. */
const BUSY: readonly SessionStatus[] = ['starting', 'running'];

describe('the life of a conversation', () => {
  it('SES-1 begins as created, never comes back there, and ends for good when it is archived', () => {
    expect(Object.keys(SESSION_TRANSITIONS).sort()).toEqual([...SESSION_STATUSES].sort());
    expect(sessionStatusesBefore('created')).toEqual([]);
    expect(SESSION_TRANSITIONS.archived).toEqual([]);
    expect(() => requireUnarchived({ status: 'archived' })).toThrow('archived');
  });

  it('SES-1 can go on from every state but archived, and end from every state that it is at work in', () => {
    fc.assert(
      fc.property(status, fc.constantFrom(...FINAL_RUN_STATUSES), fc.boolean(), (from, ended, resumable) => {
        const to = sessionStatusAfter(ended, resumable);
        if (BUSY.includes(from)) expect(canMoveSession(from, to)).toBe(true);
        else if (from !== 'archived') expect(canMoveSession(from, 'starting')).toBe(true);
      }),
    );
  });

  it('SES-1 is archived only while no run is at work, whatever way it went', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (choices) => {
        let at: SessionStatus = 'created';
        for (const choice of choices) {
          const next: readonly SessionStatus[] = SESSION_TRANSITIONS[at];
          const to: SessionStatus | undefined = next[choice % Math.max(1, next.length)];
          if (to === undefined) {
            expect(at).toBe('archived');
            return;
          }
          if (to === 'archived') expect(BUSY).not.toContain(at);
          expect(sessionStatusesBefore(to)).toContain(at);
          at = to;
        }
      }),
    );
  });
});
