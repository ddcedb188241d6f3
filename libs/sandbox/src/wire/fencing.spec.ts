// Epochs and input keys: the two rules that make a repeat, or a zombie, harmless.
import fc from 'fast-check';
import { EpochFence } from './epoch-fence.js';
import { InputKeys, MAX_INPUT_KEYS } from './input-keys.js';

describe('EpochFence', () => {
  it('SBX-8 lets pass exactly what is not below the highest epoch seen', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 })), (epochs) => {
        const fence = new EpochFence(0);
        let highest = 0;
        for (const epoch of epochs) {
          if (epoch < highest) expect(() => fence.pass(epoch)).toThrow(/newer epoch/);
          else expect(fence.pass(epoch)).toBe(epoch > highest);
          highest = Math.max(highest, epoch);
          expect(fence.current).toBe(highest);
        }
      }),
    );
  });
});

describe('InputKeys', () => {
  it('SBX-7 remembers the newest keys in order, and no more than its bound', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2500 }), (count) => {
        const keys = new InputKeys();
        const given = Array.from({ length: count }, (_, index) => `run:${index}`);
        for (const key of given) keys.add(key);
        expect(keys.list()).toEqual(given.slice(-MAX_INPUT_KEYS));
        expect(given.every((key, index) => keys.has(key) === index >= count - MAX_INPUT_KEYS)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});
