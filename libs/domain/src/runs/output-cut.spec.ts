// What a cap keeps, whatever the sequence of writes.
import fc from 'fast-check';
import { cutAt, keptBytes, keptParts, type OutputCut } from './output-cut.js';

const bytesOf = (from: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (from + index) % 251);

it('RET-1 keeps the first and the last half of the cap, exactly, however the bytes come', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
      fc.integer({ min: 2, max: 60 }),
      (writes, cap) => {
        let stored = new Map<number, number>();
        let cut: OutputCut | null = null;
        let head = 0;
        for (const length of writes) {
          const chunk = { offset: head, data: bytesOf(head, length) };
          head += length;
          cut = cutAt(head, cap, cut);
          for (const part of keptParts(chunk, cut))
            part.data.forEach((byte, index) => stored.set(part.offset + index, byte));
          const dropped = cut;
          if (dropped !== null) {
            stored = new Map([...stored].filter(([offset]) => offset < dropped.from || offset >= dropped.to));
          }
          expect(stored.size).toBe(keptBytes(head, cut));
        }
        const first = Math.floor(cap / 2);
        const expected = Array.from({ length: head }, (_, offset) => offset).filter(
          (offset) => head <= cap || offset < first || offset >= head - (cap - first),
        );
        expect([...stored.keys()].sort((a, b) => a - b)).toEqual(expected);
        expect(expected.every((offset) => stored.get(offset) === offset % 251)).toBe(true);
      },
    ),
  );
});

it('RET-1 brings nothing back and keeps within the larger cap when the cap changes in the middle of a run', () => {
  const step = fc.record({ length: fc.integer({ min: 1, max: 40 }), cap: fc.integer({ min: 2, max: 60 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let cut: OutputCut | null = null;
      let head = 0;
      for (const { length, cap } of steps) {
        head += length;
        const next: OutputCut | null = cutAt(head, cap, cut);
        if (cut !== null) expect(next).toMatchObject({ from: cut.from });
        if (cut !== null) expect(next?.to).toBeGreaterThanOrEqual(cut.to);
        cut = next;
        expect(cut === null || cut.to <= head).toBe(true);
        expect(keptBytes(head, cut)).toBeLessThanOrEqual(Math.max(...steps.map((each) => each.cap)) * 1.5);
      }
    }),
  );
});
