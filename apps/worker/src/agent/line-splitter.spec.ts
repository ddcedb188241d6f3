// Lines and their offsets do not depend on how the bytes were cut.
import fc from 'fast-check';
import { LineSplitter, type OutputLine } from './line-splitter.js';

/** Feeds `bytes` in pieces of the given sizes, from `start` on. */
function split(bytes: Uint8Array, sizes: number[], start = 0): { lines: OutputLine[]; rest: string } {
  const splitter = new LineSplitter();
  const lines: OutputLine[] = [];
  let at = start;
  for (const size of [...sizes, bytes.length]) {
    const data = bytes.subarray(at, at + size);
    lines.push(...splitter.push({ offset: at, data }));
    at += data.length;
  }
  return { lines, rest: splitter.rest };
}

const text = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 }).map((parts) => parts.join('\n'));
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 });

describe('LineSplitter', () => {
  it('AGT-1 gives the same lines and offsets however the bytes are cut', () => {
    fc.assert(
      fc.property(text, sizes, (source, cuts) => {
        const bytes = Buffer.from(source, 'utf8');
        expect(split(bytes, cuts)).toEqual(split(bytes, []));
        const { lines, rest } = split(bytes, cuts);
        expect(lines.map((line) => line.text).concat(rest)).toEqual(bytes.toString('utf8').split('\n'));
      }),
    );
  });

  it('AGT-1 goes on from the end of any line as if it had never stopped', () => {
    fc.assert(
      fc.property(text, sizes, fc.nat(), (source, cuts, pick) => {
        const bytes = Buffer.from(source, 'utf8');
        const whole = split(bytes, cuts);
        if (whole.lines.length === 0) return;
        const index = pick % whole.lines.length;
        const resumed = split(bytes, cuts, whole.lines[index]?.endOffset);
        expect(resumed.lines).toEqual(whole.lines.slice(index + 1));
        expect(resumed.rest).toBe(whole.rest);
      }),
    );
  });

  it('keeps a character whose bytes come in two pieces', () => {
    const bytes = Buffer.from('é\n', 'utf8');
    expect(split(bytes, [1])).toEqual({ lines: [{ text: 'é', endOffset: 3 }], rest: '' });
  });

  it('counts the bytes of the other channel that lie between two pieces of a line', () => {
    const splitter = new LineSplitter();
    expect(splitter.push({ offset: 0, data: Buffer.from('ab') })).toEqual([]);
    expect(splitter.push({ offset: 7, data: Buffer.from('c\nd') })).toEqual([{ text: 'abc', endOffset: 9 }]);
    expect(splitter.rest).toBe('d');
  });
});
