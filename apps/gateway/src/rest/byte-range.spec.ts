// The header Range, as RFC 9110 tells it.
import fc from 'fast-check';
import { byteRangeOf } from './byte-range.js';

it.each([
  [undefined, 10, undefined],
  ['bytes=0-', 10, { first: 0, last: 9 }],
  ['bytes=2-4', 10, { first: 2, last: 4 }],
  ['Bytes= 2 - 4 ', 10, { first: 2, last: 4 }],
  ['bytes=2-40', 10, { first: 2, last: 9 }],
  ['bytes=-3', 10, { first: 7, last: 9 }],
  ['bytes=-30', 10, { first: 0, last: 9 }],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=4-2', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['bytes=', 10, undefined],
  ['bytes=-', 10, undefined],
  ['items=0-1', 10, undefined],
])('REST-7 reads %s of %s bytes as %j', (header, length, expected) => {
  expect(byteRangeOf(header, length)).toEqual(expected);
});

it('REST-7 gives only offsets that are stored, whatever the header says', () => {
  const header = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
  );
  fc.assert(
    fc.property(header, fc.nat(1000), (text, length) => {
      const range = byteRangeOf(text, length);
      if (typeof range !== 'object') return true;
      return range.first >= 0 && range.first <= range.last && range.last < length;
    }),
  );
});
