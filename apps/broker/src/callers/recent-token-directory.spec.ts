// Outages of the directory, on a clock that the test turns.
import type { TokenDirectory, TokenOwner } from '#domain';
import type { Clock } from '#kernel';
import { InMemoryTokenDirectory } from '#testing';
import { RecentTokenDirectory } from './recent-token-directory.js';

class ManualClock implements Clock {
  ms = 1_000;
  now(): Date {
    return new Date(this.ms);
  }
  monotonicMs(): number {
    return this.ms;
  }
}

function setUp(options = {}): { inner: InMemoryTokenDirectory; clock: ManualClock; recent: RecentTokenDirectory } {
  const inner = new InMemoryTokenDirectory();
  const clock = new ManualClock();
  return { inner, clock, recent: new RecentTokenDirectory(inner, clock, options) };
}

describe('RecentTokenDirectory', () => {
  it('BRK-5 serves a token for 30 s after its last confirmation while the directory is down, and no longer', async () => {
    const { inner, clock, recent } = setUp();
    const owner = inner.add('t');
    await recent.findOwner('t');
    inner.outage = 'fail';
    clock.ms += 20_000;
    expect(await recent.findOwner('t')).toEqual(owner);
    clock.ms += 10_000;
    expect(await recent.findOwner('t')).toEqual(owner);
    clock.ms += 1;
    await expect(recent.findOwner('t')).rejects.toMatchObject({ code: 'service.unavailable', retryable: true });
  });

  it('BRK-5 fails closed for a token that it never saw confirmed', async () => {
    const { inner, recent } = setUp();
    inner.add('t');
    inner.outage = 'fail';
    await expect(recent.findOwner('t')).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it('BRK-5 takes silence for an outage', async () => {
    const { inner, recent } = setUp({ lookupTimeoutMs: 5 });
    const owner = inner.add('t');
    await recent.findOwner('t');
    inner.outage = 'hang';
    expect(await recent.findOwner('t')).toEqual(owner);
    await expect(recent.findOwner('other')).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it('BRK-4 asks each time while it can, so that a token ends with its process', async () => {
    const { inner, recent } = setUp();
    const { processId } = inner.add('t');
    await recent.findOwner('t');
    inner.remove(processId);
    expect(await recent.findOwner('t')).toBeUndefined();
    inner.outage = 'fail';
    await expect(recent.findOwner('t')).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it('BRK-5 believes the lookup that started later when two overtake each other', async () => {
    const clock = new ManualClock();
    const owner: TokenOwner = { processId: 'p', projectId: 'q', sessionId: null, runId: null };
    const answers: ((owner: TokenOwner | undefined) => void)[] = [];
    const slow: TokenDirectory = { findOwner: () => new Promise((resolve) => answers.push(resolve)) };
    const recent = new RecentTokenDirectory(slow, clock);
    const first = recent.findOwner('t');
    clock.ms += 10;
    const second = recent.findOwner('t');
    answers[1]!({ ...owner, runId: 'new' });
    await second;
    answers[0]!(undefined);
    await first;
    slow.findOwner = async () => Promise.reject(new Error('down'));
    expect(await recent.findOwner('t')).toEqual({ ...owner, runId: 'new' });
  });

  it('BRK-5 remembers a bounded number of tokens', async () => {
    const { inner, recent } = setUp({ capacity: 2 });
    for (const token of ['a', 'b', 'c']) {
      inner.add(token);
      await recent.findOwner(token);
    }
    inner.outage = 'fail';
    await expect(recent.findOwner('a')).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(await recent.findOwner('c')).toBeDefined();
  });
});
