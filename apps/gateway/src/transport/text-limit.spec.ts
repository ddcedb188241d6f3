// Long texts are cut in the middle and stay valid text.
import fc from 'fast-check';
import { byteLength, cutMiddle, limitTexts } from './text-limit.js';

const MARKER = /\n\[… (\d+) bytes missing …\]\n/;

it('GW-30 keeps head and tail, and says exactly how many bytes are missing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 8, max: 200 }), (text, max) => {
      const cut = cutMiddle(text, max);
      if (byteLength(text) <= max) {
        expect(cut).toBe(text);
        return;
      }
      const marker = MARKER.exec(cut);
      const missing = Number(marker?.[1]);
      const [head = '', tail = ''] = cut.split(marker?.[0] ?? '');
      expect(text.startsWith(head)).toBe(true);
      expect(text.endsWith(tail)).toBe(true);
      expect(byteLength(head) + byteLength(tail) + missing).toBe(byteLength(text));
      expect(byteLength(head) + byteLength(tail)).toBeLessThanOrEqual(max);
      expect(cut).not.toContain('\ufffd');
    }),
  );
});

it('GW-30 never cuts inside a character', () => {
  for (let max = 10; max < 40; max += 1) expect(cutMiddle('aé€😀'.repeat(20), max)).not.toContain('\ufffd');
});

it('GW-30 leaves a payload alone that fits, and makes one fit that does not', () => {
  const small = { text: 'x'.repeat(100) };
  expect(limitTexts(small, 1000)).toBe(small);
  const large = {
    agent: { message: { content: [{ text: 'y'.repeat(5000) }, { text: '\u0000'.repeat(3000) }] } },
    n: 1,
  };
  const limited = limitTexts(large, 2000);
  expect(byteLength(JSON.stringify(limited))).toBeLessThanOrEqual(2000);
  expect(limited).toMatchObject({ n: 1 });
  expect(JSON.stringify(limited)).toMatch(/bytes missing/);
});

it('GW-30 empties what is too large without any long text', () => {
  const crowd = { items: Array.from({ length: 5000 }, (_, index) => index) };
  expect(limitTexts(crowd, 1000)).toEqual({ omitted_bytes: JSON.stringify(crowd).length });
});

it('RET-10 brings any payload within the limit, cuts no character, and says how many bytes of each text are missing', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 600 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 300, max: 3000 }), (all, max) => {
      const limited = limitTexts({ all }, max);
      expect(byteLength(JSON.stringify(limited))).toBeLessThanOrEqual(max);
      if ('omitted_bytes' in limited) return;
      (limited['all'] as string[]).forEach((text, index) => {
        const original = all[index] ?? '';
        const marker = MARKER.exec(text);
        if (marker === null) return expect(text).toBe(original);
        const kept = text.split(marker[0]).reduce((sum, part) => sum + byteLength(part), 0);
        expect(kept + Number(marker[1])).toBe(byteLength(original));
        expect(text).not.toContain('\ufffd');
      });
    }),
  );
});
