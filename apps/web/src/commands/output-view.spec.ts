// Output as it arrives by offset, and what of it is kept in view.
import fc from 'fast-check';
import { ANSI_START, parseAnsi } from './ansi-parser.js';
import { addChunk, type Chunk, emptyOutput, endOutput, type OutputView, skipTo } from './output-view.js';
import { EMPTY_SCREEN, MAX_LINE_LENGTH, MAX_LINES, type Screen, screenText, write } from './screen.js';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const shown = (view: OutputView): string => screenText(view.screen);
const screenOf = (text: string): Screen => write(EMPTY_SCREEN, parseAnsi(ANSI_START, text).tokens, 'stdout');

describe('addChunk', () => {
  it('WEB-24, WEB-26 shows the same however the bytes are cut and repeated, each channel decoded on its own', () => {
    const record = fc.record({
      channel: fc.constantFrom('stdout' as const, 'stderr' as const),
      size: fc.integer({ min: 1, max: 4 }),
    });
    const out = encode('größer 日本語\n');
    const err = encode('Fehler: übel 🎉\n');
    fc.assert(
      fc.property(fc.array(record, { maxLength: 60 }), fc.array(fc.nat(20)), (records, repeats) => {
        // Cuts both texts in pieces and mixes them in any order, as the spool of a job does.
        const left = { stdout: out, stderr: err };
        const chunks: Chunk[] = [];
        let offset = 0;
        const rest = [
          { channel: 'stdout' as const, size: 99 },
          { channel: 'stderr' as const, size: 99 },
        ];
        for (const { channel, size } of [...records, ...rest]) {
          const bytes = left[channel].subarray(0, size);
          left[channel] = left[channel].subarray(size);
          if (bytes.length > 0) chunks.push({ offset, channel, bytes });
          offset += bytes.length;
        }
        const seen = chunks.flatMap((chunk, at) => [chunk, ...(repeats.includes(at) ? chunks.slice(0, at + 1) : [])]);
        const view = seen.reduce(addChunk, emptyOutput());
        const text = (channel: string): string =>
          view.screen.lines
            .flatMap(({ spans }) => spans.filter((span) => span.channel === channel))
            .map((span) => span.text)
            .join('');
        expect([text('stdout'), text('stderr')]).toEqual(['größer 日本語', 'Fehler: übel 🎉']);
        expect(view.nextOffset).toBe(out.length + err.length);
        expect(view.skippedBytes).toBe(0);
      }),
    );
  });

  it('WEB-24 takes of an overlapping chunk what it has not read', () => {
    const view = addChunk(emptyOutput(), { offset: 0, channel: 'stdout', bytes: encode('abcd') });
    const next = addChunk(view, { offset: 2, channel: 'stdout', bytes: encode('cdef') });
    expect([shown(next), next.nextOffset]).toEqual(['abcdef', 6]);
    expect(addChunk(next, { offset: 1, channel: 'stdout', bytes: encode('bc') })).toBe(next);
  });

  it('WEB-24 counts the bytes that it passed over and begins with a whole character', () => {
    const bytes = encode('🎉 done');
    const view = addChunk(emptyOutput(100), { offset: 102, channel: 'stdout', bytes: bytes.subarray(2) });
    expect([shown(view), view.skippedBytes, view.nextOffset]).toEqual([' done', 102, 102 + bytes.length - 2]);
  });

  it('forgets a colour that began before bytes that are not kept', () => {
    const red = addChunk(emptyOutput(), { offset: 0, channel: 'stdout', bytes: encode('\x1b[31mred') });
    const after = addChunk(skipTo(red, 50), { offset: 50, channel: 'stdout', bytes: encode('plain') });
    expect(after.screen.lines[0]?.spans.at(-1)?.style).toEqual({});
  });

  it('knows that it is over', () => {
    expect(endOutput(emptyOutput(), { exitCode: 3, reason: 'exited' }).end).toEqual({ exitCode: 3, reason: 'exited' });
  });
});

describe('write', () => {
  it('WEB-27 overwrites a progress bar in its place', () => {
    expect(screenText(screenOf('10%\r20%\r100%\ndone'))).toBe('100%\ndone');
    expect(screenText(screenOf('a\r\nb\r\n'))).toBe('a\nb\n');
    expect(screenText(screenOf('long text\r\x1b[Kshort'))).toBe('short');
    expect(screenText(screenOf('ab🎉\b\bc'))).toBe('ac');
  });

  it('WEB-28 keeps the newest lines and their numbers', () => {
    const { lines } = screenOf(`${'x\n'.repeat(MAX_LINES + 10)}last`);
    expect([lines.length, lines[0]?.number, lines.at(-1)?.number]).toEqual([MAX_LINES, 11, MAX_LINES + 10]);
  });

  it('WEB-28 goes on in the next line when one is too long, without cutting a character in two', () => {
    const { lines } = screenOf(`${'x'.repeat(MAX_LINE_LENGTH - 1)}🎉${'y'.repeat(MAX_LINE_LENGTH)}`);
    expect(lines.map(({ length }) => length)).toEqual([MAX_LINE_LENGTH - 1, MAX_LINE_LENGTH, 2]);
    expect(lines[1]?.spans[0]?.text.startsWith('🎉')).toBe(true);
  });

  it('joins what has the same look and keeps apart what has not', () => {
    const screen = write(
      write(EMPTY_SCREEN, parseAnsi(ANSI_START, 'ab').tokens, 'stdout'),
      parseAnsi(ANSI_START, 'c').tokens,
      'stderr',
    );
    expect(screen.lines[0]?.spans.map(({ text, channel }) => [text, channel])).toEqual([
      ['ab', 'stdout'],
      ['c', 'stderr'],
    ]);
  });
});
