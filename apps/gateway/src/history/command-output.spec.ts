// Pages of output that join to the whole text.
import fc from 'fast-check';
import type { OutputChunkRecord, RunRecord } from '#domain';
import { readCommandOutput, unfinishedBytes } from './command-output.js';

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

function outputOf(bytes: Uint8Array, chunkBytes: number, ended: boolean) {
  return {
    head: async () => ({
      runId: run.runId,
      projectId: 'p',
      headOffset: bytes.length,
      ended,
      exitCode: ended ? 0 : null,
      reason: 'running',
    }),
    // Like the store: a bounded number of chunks at a time, the first cut to where the reading starts.
    read: async (_: string, from: number, maxBytes: number): Promise<OutputChunkRecord[]> => {
      const chunks: OutputChunkRecord[] = [];
      for (let offset = from; offset < Math.min(bytes.length, from + maxBytes) && chunks.length < 3;) {
        const end = Math.min(bytes.length, from + maxBytes, (Math.floor(offset / chunkBytes) + 1) * chunkBytes);
        chunks.push({ offset, channel: 'stdout', data: bytes.subarray(offset, end) });
        offset = end;
      }
      return chunks;
    },
  };
}

it('GW-37 joins to the whole text, whatever the size of pages and chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, maxBytes, chunkBytes) => {
        const output = outputOf(new TextEncoder().encode(text), chunkBytes, true);
        let joined = '';
        for (let from = 0, complete = false; !complete;) {
          const page = await readCommandOutput(output, run, { fromOffset: from, maxBytes });
          expect(page.next_offset > from || page.is_complete).toBe(true);
          joined += page.output;
          from = page.next_offset;
          complete = page.is_complete;
        }
        expect(joined).toBe(text);
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
