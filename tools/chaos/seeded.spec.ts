import fc from 'fast-check';
import { Seeded } from './seeded.ts';

const draws = (random: Seeded): number[] => Array.from({ length: 20 }, () => random.int(0, 1_000_000));

describe('Seeded', () => {
  it('CHS-1 draws the same from the same seed, and something else from another', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), (seed, name) => {
        expect(draws(new Seeded(seed).fork(name))).toEqual(draws(new Seeded(seed).fork(name)));
        expect(draws(new Seeded(seed).fork(name))).not.toEqual(draws(new Seeded(seed + 1).fork(name)));
        expect(draws(new Seeded(seed).fork(name))).not.toEqual(draws(new Seeded(seed).fork(`${name}x`)));
      }),
    );
  });

  it('CHS-1 stays within its bounds and reaches them', () => {
    const random = new Seeded(7);
    const drawn = Array.from({ length: 2_000 }, () => random.int(-2, 3));
    expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([-2, 3]);
    expect(drawn.every(Number.isInteger)).toBe(true);
  });
});
