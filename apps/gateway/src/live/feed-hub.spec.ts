// One subscription per project, one query for all heads, and a bus that may be away.
import type { LiveFrame, ProjectHeads } from '#domain';
import { FeedHub } from './feed-hub.js';
import type { FeedMember } from './membership.js';

class Bus {
  readonly listeners = new Map<string, Set<(frame: LiveFrame) => void>>();
  subscriptions = 0;
  away = false;
  reconnected: () => void = () => undefined;

  async subscribe(projectId: string, listener: (frame: LiveFrame) => void) {
    this.subscriptions += 1;
    if (this.away) throw new Error('the bus is away');
    const listeners = this.listeners.get(projectId) ?? new Set();
    this.listeners.set(projectId, listeners.add(listener));
    return {
      unsubscribe: async () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.listeners.delete(projectId);
      },
    };
  }

  onReconnect(listener: () => void): void {
    this.reconnected = listener;
  }
}

class Heads {
  readonly asked: string[][] = [];
  readonly heads = new Map<string, number>();
  failing = false;

  async headsOf(projectIds: string[]): Promise<Map<string, ProjectHeads>> {
    this.asked.push(projectIds);
    if (this.failing) throw new Error('the store is away');
    const known = [...this.heads].filter(([projectId]) => projectIds.includes(projectId));
    return new Map(known.map(([projectId, headSeq]) => [projectId, { headSeq, queueRevision: 0 }]));
  }
}

function hubOf() {
  const bus = new Bus();
  const store = new Heads();
  const problems: unknown[] = [];
  const hub = new FeedHub({
    bus,
    events: { heads: (ids) => store.headsOf(ids), after: async () => ({ events: [], truncated: false }) },
    runs: { queue: async (projectId) => ({ projectId, revision: 0, lanes: [] }) },
    tickMs: 1000,
    report: (_, context) => problems.push(context['operation']),
  });
  return { bus, store, hub, problems };
}

it('GW-31 subscribes once per project and leaves with the last lease', async () => {
  const { bus, hub } = hubOf();
  const [one, two] = [hub.acquire('p'), hub.acquire('p')];
  await one.standing;
  expect([bus.subscriptions, one.feed === two.feed]).toEqual([1, true]);
  one.release();
  one.release();
  expect(bus.listeners.has('p')).toBe(true);
  two.release();
  expect(bus.listeners.has('p')).toBe(false);
});

it('GW-31 leaves when the last lease went before the subscription stood', async () => {
  const { bus, hub } = hubOf();
  hub.acquire('p').release();
  await hub.check();
  expect(bus.listeners.has('p')).toBe(false);
});

it('GW-25 asks for all heads in one query', async () => {
  const { store, hub } = hubOf();
  hub.acquire('p');
  hub.acquire('q');
  await hub.check();
  expect(store.asked).toEqual([['p', 'q']]);
});

it('GW-25 asks after a reconnection', async () => {
  const { bus, store, hub } = hubOf();
  hub.acquire('p');
  bus.reconnected();
  await hub.check();
  expect(store.asked).toHaveLength(1);
});

it('GW-25 asks nothing when nobody watches', async () => {
  const { store, hub } = hubOf();
  await hub.check();
  expect(store.asked).toEqual([]);
});

it('GW-42 works without the bus and subscribes when it is back', async () => {
  const { bus, store, hub, problems } = hubOf();
  bus.away = true;
  store.heads.set('p', 0);
  const { feed } = hub.acquire('p');
  await hub.check();
  expect(problems).toContain('live.subscribe');
  bus.away = false;
  await hub.check();
  expect(bus.listeners.has('p')).toBe(true);
  expect(feed.projectId).toBe('p');
});

it('GW-25 tells of a store that is away and asks again', async () => {
  const { store, hub, problems } = hubOf();
  hub.acquire('p');
  store.failing = true;
  await hub.check();
  store.failing = false;
  await hub.check();
  expect([problems, store.asked.length]).toEqual([['live.heads'], 2]);
});

it('GW-17 ends the watching of a project that is not there any more', async () => {
  const { hub } = hubOf();
  const { feed } = hub.acquire('gone');
  let resyncs = 0;
  const member: FeedMember = {
    position: 3,
    ready: true,
    frame: () => undefined,
    events: () => undefined,
    queue: () => undefined,
    mustResync: () => {
      resyncs += 1;
    },
  };
  feed.add(member);
  await hub.check();
  expect(resyncs).toBe(1);
});
