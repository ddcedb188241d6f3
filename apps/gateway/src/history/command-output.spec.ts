// Pages of output that join to the whole text.
import fc from 'fast-check';
import type { OutputChunkRecord, OutputStore, RunRecord } from '#domain';
import type { OutputGap } from '#protocol';
import { gapMarker, readCommandOutput } from './command-output.js';
import { leadingRest, unfinishedBytes } from './utf8-edges.js';

const run = {
  runId: '0190f3a4-0000-7000-8000-000000000001',
  argv: ['echo', 'x'],
  shellCommand: null,
  commandId: null,
  durationMs: null,
  startedAt: null,
  queuedAt: new Date(0),
  workingDir: null,
} as unknown as RunRecord;

interface Hole {
  from: number;
  to: number;
}

function outputOf(bytes: Uint8Array, chunkBytes: number, ended: boolean, hole: Hole = { from: 0, to: 0 }): OutputStore {
  const isStored = (offset: number) => offset < bytes.length && (offset < hole.from || offset >= hole.to);
  return {
    head: async () => ({
      runId: run.runId,
      projectId: 'p',
      headOffset: bytes.length,
      cut: null,
      expiredAt: null,
      ended,
      exitCode: ended ? 0 : null,
      reason: 'running',
    }),
    nextStored: async (_: string, from: number) => {
      for (let offset = from; offset < bytes.length; offset += 1) if (isStored(offset)) return offset;
      return undefined;
    },
    // Like the store: a bounded number of chunks at a time, the first cut to where the reading starts.
    read: async (_: string, from: number, maxBytes: number): Promise<OutputChunkRecord[]> => {
      const chunks: OutputChunkRecord[] = [];
      const limit = Math.min(bytes.length, from + maxBytes);
      for (let offset = from; offset < limit && chunks.length < 3;) {
        let end = offset;
        const chunkEnd = Math.min(limit, (Math.floor(offset / chunkBytes) + 1) * chunkBytes);
        while (end < chunkEnd && isStored(end)) end += 1;
        if (end > offset) chunks.push({ offset, channel: 'stdout', data: bytes.subarray(offset, end) });
        offset = Math.max(end, offset + 1);
      }
      return chunks;
    },
  };
}

async function readAll(output: OutputStore, maxBytes: number) {
  const gaps: OutputGap[] = [];
  let joined = '';
  for (let from = 0, complete = false; !complete;) {
    const page = await readCommandOutput(output, run, { fromOffset: from, maxBytes });
    expect(page.next_offset > from || page.is_complete).toBe(true);
    joined += page.output;
    if (page.gap !== undefined) gaps.push(page.gap);
    from = page.next_offset;
    complete = page.is_complete;
  }
  return { joined, gaps };
}

it('GW-37 joins to the whole text, whatever the size of pages and chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, maxBytes, chunkBytes) => {
        const output = outputOf(new TextEncoder().encode(text), chunkBytes, true);
        expect((await readAll(output, maxBytes)).joined).toBe(text);
      },
    ),
  );
});

it('RET-3 puts one marker in the place of a hole, counts what is left out, and never cuts a character at its edges', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 1, max: 9 }),
      fc.tuple(fc.nat(), fc.nat()),
      async (text, maxBytes, chunkBytes, [one, other]) => {
        const bytes = new TextEncoder().encode(text);
        const [from, to] = [one % (bytes.length + 1), other % (bytes.length + 1)].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const { joined, gaps } = await readAll(outputOf(bytes, chunkBytes, true, { from, to }), maxBytes);
        if (from === to) return expect([joined, gaps]).toEqual([text, []]);
        const first = from - unfinishedBytes(bytes.subarray(0, from));
        const last = to + leadingRest(bytes.subarray(to));
        const gap = { from_offset: first, to_offset: last, reason: 'cut' as const };
        expect(gaps).toEqual([gap]);
        const decode = (part: Uint8Array) => new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(part);
        expect(joined).toBe(decode(bytes.subarray(0, first)) + gapMarker(gap) + decode(bytes.subarray(last)));
      },
    ),
  );
});

it('GW-37 keeps an unfinished character for the next page while the command runs', async () => {
  const bytes = new TextEncoder().encode('abcdé');
  const output = outputOf(bytes.subarray(0, 5), 100, false);
  expect(await readCommandOutput(output, run, { fromOffset: 0, maxBytes: 100 })).toMatchObject({
    output: 'abcd',
    next_offset: 4,
    is_complete: false,
  });
});

it('GW-37 waits for the rest of a lone character, but gets on when the page is too small for it', async () => {
  const bytes = new TextEncoder().encode('€');
  const begun = outputOf(bytes.subarray(0, 2), 100, false);
  const small = outputOf(bytes, 100, false);
  expect((await readCommandOutput(begun, run, { fromOffset: 0, maxBytes: 100 })).next_offset).toBe(0);
  expect((await readCommandOutput(small, run, { fromOffset: 0, maxBytes: 2 })).next_offset).toBe(2);
});

it('GW-37 gets on over bytes that are no text at all', async () => {
  const output = outputOf(Uint8Array.from([0xff, 0xfe, 0x80, 0x80, 0xf0, 0x9f]), 2, true);
  const page = await readCommandOutput(output, run, { fromOffset: 0, maxBytes: 100 });
  expect([page.next_offset, page.is_complete]).toEqual([6, true]);
});

it('GW-37 refuses an offset beyond the output', async () => {
  const output = outputOf(new Uint8Array(3), 2, true);
  await expect(readCommandOutput(output, run, { fromOffset: 4, maxBytes: 1 })).rejects.toMatchObject({
    code: 'stream.offset_invalid',
    details: { head_offset: 3 },
  });
});

it.each([
  ['', 0],
  ['61', 0],
  ['c3', 1],
  ['c3a9', 0],
  ['e282', 2],
  ['e282ac', 0],
  ['f09f98', 3],
  ['f09f9880', 0],
  ['808080', 0],
])('GW-37 counts the unfinished bytes of %s as %d', (hex, count) => {
  expect(unfinishedBytes(Buffer.from(hex, 'hex'))).toBe(count);
});
