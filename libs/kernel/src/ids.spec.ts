// UUIDv7: sortable by time, lower case.
import fc from 'fast-check';
import { newId } from './ids.js';

it('carries its time in order and the version and variant bits of RFC 9562', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.integer({ min: 1, max: 1_000_000 }), (at, later) => {
      const [first, second] = [newId(at), newId(at + later)];
      expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(first < second).toBe(true);
      expect(Number.parseInt(first.replaceAll('-', '').slice(0, 12), 16)).toBe(at);
    }),
  );
});
