// Offsets and events move together, in order, and never past what is not settled.
import fc from 'fast-check';
import type { OutputCommit } from '#domain';
import { AppError } from '#kernel';
import { OutputCommitter, type CommittedLine } from './output-committer.js';

const announcement = { projectId: 'p', events: [], dispatches: [], wakeHostIds: [] };

/** A store that commits when it is told to. */
class SlowStore {
  readonly commits: OutputCommit[] = [];
  readonly #waiting: { resolve(): void; reject(error: Error): void }[] = [];

  readonly commitOutput = async (commit: OutputCommit) => {
    this.commits.push(commit);
    await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    return { result: undefined, announcement };
  };

  /** Lets commits through until nothing is under way. */
  async settle(): Promise<void> {
    for (let calm = 0; calm < 5; calm += 1) {
      const next = this.#waiting.shift();
      if (next !== undefined) calm = 0;
      next?.resolve();
      await Promise.resolve();
    }
  }

  fail(error: Error): void {
    this.#waiting.shift()?.reject(error);
  }
}

function setUp() {
  const store = new SlowStore();
  const seen: number[] = [];
  const failures: unknown[] = [];
  const committer = new OutputCommitter({
    store,
    fence: { runId: 'r', runEpoch: 1, processId: 'x', processEpoch: 1 },
    fromOffset: 0,
    announce: async ({ result }) => result,
    activeMs: () => 7,
    onCommitted: (offset) => seen.push(offset),
    onFailed: (error) => failures.push(error),
  });
  return { store, committer, seen, failures };
}

const event = (id: number) => ({ type: 'message.system' as const, payload: { id } });
const line = fc.record({
  bytes: fc.integer({ min: 1, max: 200_000 }),
  events: fc.integer({ min: 0, max: 3 }),
  settled: fc.boolean(),
});

describe('OutputCommitter', () => {
  it('ENG-22 stores how long a silent agent has been at work, without moving its offset, and not while it commits', async () => {
    const { store, committer } = setUp();
    committer.beat();
    committer.beat();
    await store.settle();
    await committer.add({ endOffset: 50, events: [], settled: false });
    expect(committer.heldBytes).toBe(50);
    committer.beat();
    await store.settle();
    const moves = store.commits.map(({ fromOffset, toOffset, activeMs }) => [fromOffset, toOffset, activeMs]);
    expect(moves).toEqual([
      [0, 0, 7],
      [0, 0, 7],
    ]);
  });

  it('AGT-20 commits every event once, in order, and no offset beyond a line that is not settled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (specs) => {
        const { store, committer, failures } = setUp();
        let offset = 0;
        let safe = 0;
        let next = 0;
        const settledEvents: number[] = [];
        const allEvents: number[] = [];
        for (const { bytes, events, settled } of specs) {
          offset += bytes;
          const ids = Array.from({ length: events }, () => (next += 1));
          allEvents.push(...ids);
          const added: CommittedLine = { endOffset: offset, events: ids.map(event), settled };
          const taken = committer.add(added);
          await store.settle();
          await taken;
          if (settled) safe = offset;
          if (settled) settledEvents.push(...allEvents.splice(0));
          expect(committer.committedOffset).toBeLessThanOrEqual(safe);
        }
        const flushed = committer.flush();
        await store.settle();
        await flushed;
        expect(store.commits.flatMap(({ events }) => events.map(({ payload }) => payload['id']))).toEqual(
          settledEvents,
        );
        expect(committer.committedOffset).toBe(safe);
        let at = 0;
        for (const commit of store.commits) {
          expect(commit.fromOffset).toBe(at);
          at = commit.toOffset;
        }
        expect(failures).toEqual([]);
      }),
    );
  });

  it('AGT-20 commits silent output only when there is much of it', async () => {
    const { store, committer } = setUp();
    await committer.add({ endOffset: 1_000, events: [], settled: true });
    expect(store.commits).toHaveLength(0);
    await committer.add({ endOffset: 300_000, events: [], settled: true });
    expect(store.commits).toHaveLength(1);
  });

  it('AGT-20 commits one batch at a time: what comes meanwhile goes into the next', async () => {
    const { store, committer } = setUp();
    for (const at of [10, 20, 30]) await committer.add({ endOffset: at, events: [event(at)], settled: true });
    expect(store.commits).toHaveLength(1);
    await store.settle();
    expect(store.commits.map(({ toOffset }) => toOffset)).toEqual([10, 30]);
  });

  it('AGT-20 commits nothing after a failure', async () => {
    const { store, committer, failures } = setUp();
    await committer.add({ endOffset: 10, events: [event(1)], settled: true });
    store.fail(new AppError('write.fenced', 'old'));
    await store.settle();
    await committer.add({ endOffset: 20, events: [event(2)], settled: true });
    await expect(committer.flush()).rejects.toMatchObject({ code: 'write.fenced' });
    expect(store.commits).toHaveLength(1);
    expect(failures).toHaveLength(1);
  });

  it('AGT-20 leaves the last line to the end of the run, after all before it', async () => {
    const { store, committer } = setUp();
    await committer.add({ endOffset: 10, events: [event(1)], settled: false });
    const last = committer.last({ endOffset: 20, events: [event(2)], session: { agentSessionId: 'a' } }, 0.5);
    expect(store.commits).toHaveLength(0);
    expect(last).toMatchObject({
      fromOffset: 0,
      toOffset: 20,
      processCostUsd: 0.5,
      activeMs: 7,
      session: { agentSessionId: 'a' },
    });
    expect(last.events.map(({ payload }) => payload['id'])).toEqual([1, 2]);
  });
});
