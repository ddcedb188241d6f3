// The transition table of runs: nothing escapes it.
import fc from 'fast-check';
import { FINAL_RUN_STATUSES, isAppError, type RunStatus } from '#kernel';
import { canTransition, isFinal, requireTransition, RUN_TRANSITIONS } from './run-lifecycle.js';

const codeOf = (from: RunStatus, to: RunStatus): string => {
  try {
    requireTransition(from, to);
    return 'ok';
  } catch (error) {
    return isAppError(error) ? error.code : 'untyped';
  }
};

it('DATA-5 a random walk along the table ends only in final statuses, which it never leaves', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10), { maxLength: 30 }), (picks) => {
      let status: RunStatus = 'queued';
      for (const pick of picks) {
        const next: readonly RunStatus[] = RUN_TRANSITIONS[status];
        if (next.length === 0) expect(isFinal(status)).toBe(true);
        else status = next[pick % next.length] ?? status;
      }
    }),
  );
  for (const status of FINAL_RUN_STATUSES) expect(RUN_TRANSITIONS[status]).toEqual([]);
});

it('DATA-5 refuses what the table does not have, with a typed error', () => {
  expect(canTransition('queued', 'running')).toBe(false);
  expect(codeOf('queued', 'running')).toBe('run.not_active');
  expect(codeOf('failed', 'running')).toBe('run.already_finished');
  expect(codeOf('running', 'waiting')).toBe('ok');
});
