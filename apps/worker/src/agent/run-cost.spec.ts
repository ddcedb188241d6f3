// Costs of runs add up to what the agent's counters say.
import fc from 'fast-check';
import { costOfRun } from './run-cost.js';

describe('costOfRun', () => {
  it('AGT-15 is the difference of two totals of one process', () => {
    expect(costOfRun({ totalUsd: 0.000736, sinceLastUsd: 0.9 }, 0.000552, 0.000552)).toBe(0.000184);
  });

  it('AGT-15 is what came since for the first result of a resumed process, whose total goes on from its transcript', () => {
    expect(costOfRun({ totalUsd: 0.000552, sinceLastUsd: 0.000184 }, 0, 0.000368)).toBe(0.000184);
  });

  it('AGT-15 does not go below zero when an interrupted turn is missing in the resumed total', () => {
    // Seen: 0.00108 was reported for the interrupted turn, the resumed process began again at 0.000736.
    expect(costOfRun({ totalUsd: 0.00092, sinceLastUsd: 0.000184 }, 0, 0.00108)).toBe(0.000184);
    expect(costOfRun({ totalUsd: 0.00092 }, 0, 0.00108)).toBe(0.00092);
  });

  it('AGT-15 adds up: the costs of a process’s runs are its last total', () => {
    const turns = fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(turns, (micros) => {
        let total = 0;
        let billed = 0;
        for (const micro of micros) {
          const last = total;
          total += micro;
          billed += costOfRun({ totalUsd: total / 1e6, sinceLastUsd: micro / 1e6 }, last / 1e6, last / 1e6);
        }
        expect(billed).toBeCloseTo(total / 1e6, 5);
      }),
    );
  });
});
