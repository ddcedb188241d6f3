// When a service that died is started again.
import fc from 'fast-check';
import { decideRestart, HEALTHY_AFTER_MS, MOST_FAILURES } from './restart-policy.ts';

const shortLife = fc.integer({ min: 0, max: HEALTHY_AFTER_MS - 1 });

describe('the restart policy', () => {
  it('OPS-5 starts again at once after the first death, within a second after the third', () => {
    const first = decideRestart(0, 5);
    expect(first).toEqual({ failures: 1, delayMs: 200 });
    expect(decideRestart(2, 5).delayMs).toBeLessThan(1_000);
  });

  it('OPS-5 waits longer each time, never more than 10 s, and gives up in the end', () => {
    fc.assert(
      fc.property(fc.array(shortLife, { minLength: MOST_FAILURES + 1, maxLength: MOST_FAILURES + 9 }), (lives) => {
        let failures = 0;
        let lastDelay = 0;
        for (const [index, livedMs] of lives.entries()) {
          const decision = decideRestart(failures, livedMs);
          failures = decision.failures;
          if (index >= MOST_FAILURES) return expect(decision.delayMs).toBeUndefined();
          expect(decision.delayMs).toBeGreaterThanOrEqual(lastDelay);
          expect(decision.delayMs).toBeLessThanOrEqual(10_000);
          lastDelay = decision.delayMs ?? 0;
        }
      }),
    );
  });

  it('OPS-5 forgets earlier deaths when the process was healthy', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: HEALTHY_AFTER_MS }), (failures, livedMs) => {
        expect(decideRestart(failures, livedMs)).toEqual({ failures: 1, delayMs: 200 });
      }),
    );
  });
});
