// Whom the out-of-memory killer hit, as far as a counter tells.
import { MemoryWatch } from './memory-watch.js';

const died = { code: null, signal: 'SIGKILL', killedByUs: false };
const fine = { code: 0, signal: null, killedByUs: false };

function setUp() {
  const counters = { oomKills: 3, usedBytes: 0 };
  return { counters, watch: new MemoryWatch<string>(() => ({ ...counters })) };
}

describe('the memory watch', () => {
  it('SBX-20 blames the only job that ran, however it ended', () => {
    const { counters, watch } = setUp();
    watch.started('a');
    counters.oomKills++;
    expect(watch.ended('a', fine)).toBe(true);
  });

  it('SBX-20 blames of several jobs those that died of it', () => {
    const { counters, watch } = setUp();
    for (const job of ['a', 'b', 'c', 'd']) watch.started(job);
    counters.oomKills++;
    expect(watch.ended('a', fine)).toBe(false);
    expect(watch.ended('b', died)).toBe(true);
    expect(watch.ended('c', { ...died, killedByUs: true })).toBe(false);
    expect(watch.ended('d', { code: 137, signal: null, killedByUs: false })).toBe(true);
  });

  it('SBX-20 blames nobody for what happened before or after', () => {
    const { counters, watch } = setUp();
    counters.oomKills++;
    watch.started('a');
    expect(watch.ended('a', died)).toBe(false);
    counters.oomKills++;
    watch.started('b');
    expect(watch.ended('b', died)).toBe(false);
  });

  it('SBX-20 stays certain of a job when another starts later', () => {
    const { counters, watch } = setUp();
    watch.started('a');
    counters.oomKills++;
    watch.started('b');
    counters.oomKills++;
    expect(watch.ended('a', fine)).toBe(true);
    expect(watch.ended('b', fine)).toBe(false);
  });
});
