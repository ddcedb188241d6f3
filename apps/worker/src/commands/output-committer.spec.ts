import fc from 'fast-check';
import type { OutputCommit, SpoolChunk } from '#domain';
import { newId, systemClock } from '#kernel';
import { COMMIT_BYTES, COMMIT_MS } from './commit-bounds.js';
import { mergeChunks, OutputCommitter } from './output-committer.js';

const fence = { runId: newId(), runEpoch: 1, processId: newId(), processEpoch: 1 };

function committer({ fromOffset = 0, runStart = 0, fail = false } = {}) {
  const commits: OutputCommit[] = [];
  const failed = jest.fn();
  const made = new OutputCommitter({
    fence,
    fromOffset,
    runStart,
    maxOutputBytes: 1_000_000,
    activeMs: () => 7,
    clock: systemClock,
    failed,
    commit: async (commit) => {
      commits.push(commit);
      if (fail) throw new Error('away');
    },
  });
  return { made, commits, failed };
}

const chunk = (offset: number, text: string, channel: 'stdout' | 'stderr' = 'stdout'): SpoolChunk => ({
  offset,
  channel,
  data: Buffer.from(text),
});

afterEach(() => {
  jest.useRealTimers();
});

describe('OutputCommitter', () => {
  it('ENG-30 commits the first bytes at once, and what follows within 100 ms, together', async () => {
    jest.useFakeTimers();
    const { made, commits } = committer();
    await made.push(chunk(0, 'a'));
    await jest.advanceTimersByTimeAsync(0);
    expect(commits).toHaveLength(1);
    await made.push(chunk(1, 'b'));
    await made.push(chunk(2, 'c', 'stderr'));
    await jest.advanceTimersByTimeAsync(COMMIT_MS - 1);
    expect(commits).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(commits[1]).toMatchObject({ fromOffset: 1, toOffset: 3, activeMs: 7 });
    expect(commits[1]?.chunks.map(({ offset, channel }) => [offset, channel])).toEqual([
      [1, 'stdout'],
      [2, 'stderr'],
    ]);
  });

  it('ENG-30 commits 256 KiB without waiting, and reads on only then', async () => {
    const { made, commits } = committer();
    await made.push(chunk(0, 'x'.repeat(COMMIT_BYTES)));
    expect(commits).toMatchObject([{ fromOffset: 0, toOffset: COMMIT_BYTES }]);
    await made.close();
  });

  it('ENG-30 counts from the committed offset, and chunks from the start of the run', async () => {
    const { made } = committer({ fromOffset: 50, runStart: 40 });
    await made.push(chunk(50, 'abc'));
    const last = await made.last();
    expect(last).toMatchObject({ fromOffset: 50, toOffset: 53 });
    expect(last.chunks[0]?.offset).toBe(10);
  });

  it('ENG-30 leaves no byte out and takes none twice, however chunks come and commits go', async () => {
    const piece = fc.record({
      text: fc.string({ minLength: 1, maxLength: 5 }),
      channel: fc.constantFrom('stdout' as const, 'stderr' as const),
      wait: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const { made, commits } = committer();
        let offset = 0;
        let expected = '';
        for (const { text, channel, wait } of pieces) {
          const data = Buffer.from(text);
          await made.push({ offset, channel, data });
          offset += data.length;
          expected += `${channel}:${data.toString('hex')};`;
          if (wait) await new Promise((resolve) => setImmediate(resolve));
        }
        const all = [...commits, await made.last()];
        let at = 0;
        for (const commit of all) {
          expect(commit.fromOffset).toBe(at);
          at = commit.toOffset;
        }
        expect(at).toBe(offset);
        const chunks = all.flatMap((commit) => commit.chunks);
        expect(hexByChannel(chunks)).toBe(mergeHex(expected));
        chunks.reduce((end, { offset: begin, data }) => {
          expect(begin).toBe(end);
          return end + data.length;
        }, 0);
      }),
      { numRuns: 60 },
    );
  });

  it('ENG-24 stops at the first commit that fails, says so once, and loses nothing that was not committed', async () => {
    const { made, commits, failed } = committer({ fail: true });
    await expect(made.push(chunk(0, 'x'.repeat(COMMIT_BYTES)))).rejects.toThrow('away');
    await expect(made.push(chunk(COMMIT_BYTES, 'y'))).rejects.toThrow('away');
    made.beat();
    await expect(made.last()).rejects.toThrow('away');
    await made.close();
    expect(failed).toHaveBeenCalledTimes(1);
    expect(commits).toHaveLength(1); // nothing is tried after it: it could leave a hole
  });

  it('ENG-22 stores the active time of a silent run', async () => {
    const { made, commits } = committer({ fromOffset: 9 });
    made.beat();
    await made.close();
    expect(commits).toMatchObject([{ fromOffset: 9, toOffset: 9, chunks: [], activeMs: 7 }]);
  });
});

const hexByChannel = (chunks: { channel: string; data: Uint8Array }[]): string =>
  mergeHex(chunks.map(({ channel, data }) => `${channel}:${Buffer.from(data).toString('hex')};`).join(''));

/** Neighbours of one channel written as one. */
function mergeHex(text: string): string {
  const merged: [string, string][] = [];
  for (const part of text.split(';').filter((one) => one !== '')) {
    const [channel = '', hex = ''] = part.split(':');
    const last = merged.at(-1);
    if (last?.[0] === channel) last[1] += hex;
    else merged.push([channel, hex]);
  }
  return merged.map((pair) => pair.join(':')).join(';');
}

describe('mergeChunks', () => {
  it('ENG-30 joins neighbours of one channel and keeps the order of the channels', () => {
    const merged = mergeChunks([chunk(0, 'a'), chunk(1, 'b'), chunk(2, 'c', 'stderr'), chunk(3, 'd')]);
    expect(merged.map(({ offset, channel, data }) => [offset, channel, Buffer.from(data).toString()])).toEqual([
      [0, 'stdout', 'ab'],
      [2, 'stderr', 'c'],
      [3, 'stdout', 'd'],
    ]);
  });
});
