// Places between neighbours: always strictly between, and where there is no room, none.
import fc from 'fast-check';
import { POSITION_GAP, positionBetween } from './lane-order.js';

const position = fc.integer({ min: -1_000_000, max: 1_000_000 });

it('QUE-4 finds a place between two neighbours wherever there is one', () => {
  fc.assert(
    fc.property(position, fc.nat(5000), (before, distance) => {
      const after = before + distance;
      const found = positionBetween(before, after);
      if (distance < 2) return expect(found).toBeUndefined();
      expect(found).toBeGreaterThan(before);
      expect(found).toBeLessThan(after);
    }),
  );
  expect(positionBetween(undefined, 5)).toBe(5 - POSITION_GAP);
  expect(positionBetween(5, undefined)).toBe(5 + POSITION_GAP);
  expect(positionBetween(undefined, undefined)).toBe(0);
});

it('QUE-4 has room for ten moves to one place before a lane is numbered anew', () => {
  let after = POSITION_GAP;
  for (let moves = 0; moves < 10; moves += 1) after = positionBetween(0, after) ?? 0;
  expect(after).toBeGreaterThan(0);
  expect(positionBetween(0, after)).toBeUndefined();
});
