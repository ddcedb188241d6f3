// Whatever the bus loses, repeats or reorders, each watcher gets every event once and in order (R16).
import fc from 'fast-check';
import type { EventRange, EventRecord, LiveFrame, QueueSnapshotRecord } from '#domain';
import { DeliveryCursor } from './delivery-cursor.js';
import type { FeedMember } from './membership.js';
import { ProjectFeed } from './project-feed.js';

const PROJECT = 'p';

const eventOf = (seq: number): EventRecord => ({
  projectId: PROJECT,
  seq,
  eventId: `e${seq}`,
  type: 'run.updated',
  sessionId: null,
  runId: null,
  payload: {},
  createdAt: new Date(0),
});

/** A project's events: committed ones can be read, in pages of at most three, when the schedule says so. */
class EventLog {
  head = 0;
  reads = 0;
  failing = false;

  constructor(private readonly turn: () => Promise<unknown> = async () => undefined) {}

  commit(count: number): EventRecord[] {
    const events = Array.from({ length: count }, (_, index) => eventOf(this.head + 1 + index));
    this.head += count;
    return events;
  }

  async after(_projectId: string, afterSeq: number): Promise<EventRange> {
    this.reads += 1;
    await this.turn();
    if (this.failing) throw new Error('the store is away');
    const end = Math.min(this.head, afterSeq + 3);
    const events = Array.from({ length: Math.max(0, end - afterSeq) }, (_, index) => eventOf(afterSeq + 1 + index));
    return { events, truncated: end < this.head };
  }
}

class Watcher implements FeedMember {
  readonly seen: number[] = [];
  readonly queues: number[] = [];
  resyncs = 0;
  slow = false;
  private readonly cursor: DeliveryCursor;

  constructor(readonly joinedAt: number) {
    this.cursor = new DeliveryCursor(joinedAt);
  }

  get position(): number {
    return this.cursor.position;
  }

  get ready(): boolean {
    return !this.slow;
  }

  frame(frame: LiveFrame): void {
    if (frame.kind === 'announcement') this.events(frame.announcement.events);
  }

  events(batch: readonly EventRecord[]): void {
    if (!this.slow) this.seen.push(...this.cursor.take(batch).map(({ seq }) => seq));
  }

  queue({ revision }: QueueSnapshotRecord): void {
    this.queues.push(revision);
  }

  mustResync(): void {
    this.resyncs += 1;
  }
}

const announcementOf = (events: EventRecord[], headSeq?: number, queue?: QueueSnapshotRecord): LiveFrame => ({
  kind: 'announcement',
  announcement: {
    projectId: PROJECT,
    events,
    ...(headSeq === undefined ? {} : { headSeq }),
    ...(queue === undefined ? {} : { queue }),
    dispatches: [],
    wakeHostIds: [],
  },
});

const queueAt = (revision: number): QueueSnapshotRecord => ({ projectId: PROJECT, revision, lanes: [] });

const feedOf = (log: EventLog, report: (error: unknown) => void = () => undefined, revision = 1) =>
  new ProjectFeed(PROJECT, { events: log, runs: { queue: async () => queueAt(revision) } }, report);

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delay' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  fc.record({ kind: fc.constant('deliverDelayed' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('repeat' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('headOnly' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('join' as const) }),
  fc.record({ kind: fc.constant('slow' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('read' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('tick' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One project with watchers that come and go slow, and a bus that does what it likes. */
class Simulation {
  readonly watchers = [new Watcher(0)];
  readonly log: EventLog;
  readonly feed: ProjectFeed;
  private readonly published: LiveFrame[] = [];
  private readonly delayed: LiveFrame[] = [];

  constructor(turn: () => Promise<unknown>) {
    this.log = new EventLog(turn);
    this.feed = feedOf(this.log);
    for (const watcher of this.watchers) this.feed.add(watcher);
  }

  async apply(action: Step): Promise<void> {
    switch (action.kind) {
      case 'publish':
      case 'lose':
      case 'delay':
        return this.commit(action.kind, action.count);
      case 'headOnly':
        this.log.commit(action.count);
        return this.feed.frame(announcementOf([], this.log.head));
      case 'deliverDelayed':
        return this.say(pick(this.delayed, action.pick));
      case 'repeat':
        return this.say(pick(this.published, action.pick));
      case 'join': {
        const watcher = new Watcher(this.log.head);
        this.watchers.push(watcher);
        return this.feed.add(watcher);
      }
      case 'slow':
      case 'read':
        for (const watcher of [pick(this.watchers, action.pick)]) if (watcher) watcher.slow = action.kind === 'slow';
        return this.feed.catchUp();
      case 'tick':
        return this.feed.refresh({ headSeq: this.log.head, queueRevision: 0 });
    }
  }

  private commit(kind: 'publish' | 'lose' | 'delay', count: number): void {
    const frame = announcementOf(this.log.commit(count));
    this.published.push(frame);
    if (kind === 'publish') this.feed.frame(frame);
    if (kind === 'delay') this.delayed.push(frame);
  }

  private say(frame: LiveFrame | undefined): void {
    if (frame !== undefined) this.feed.frame(frame);
  }
}

const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];

it('GW-24 delivers every event once and in order under lost, repeated, late and reordered publishes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 40 }), async (schedule, steps) => {
      const simulation = new Simulation(() => schedule.schedule(Promise.resolve()));
      const { watchers, feed, log } = simulation;
      for (const action of steps) {
        if (schedule.count() > 0) await schedule.waitNext(1);
        await simulation.apply(action);
      }
      for (const watcher of watchers) watcher.slow = false;
      await feed.refresh({ headSeq: log.head, queueRevision: 0 });
      await schedule.waitFor(feed.settled());
      for (const watcher of watchers) expect(watcher.seen).toEqual(range(watcher.joinedAt + 1, log.head));
    }),
    { numRuns: 300 },
  );
});

it('GW-24 does not read when nothing is missing', async () => {
  const log = new EventLog();
  const feed = feedOf(log);
  const watcher = new Watcher(0);
  feed.add(watcher);
  feed.frame(announcementOf(log.commit(5)));
  await feed.refresh({ headSeq: log.head, queueRevision: 0 });
  expect(watcher.seen).toEqual(range(1, 5));
  expect(log.reads).toBe(0);
});

it('GW-24 tries again with the next word after the store failed, and tells of it', async () => {
  const log = new EventLog();
  const problems: unknown[] = [];
  const feed = feedOf(log, (error) => problems.push(error));
  const watcher = new Watcher(0);
  feed.add(watcher);
  log.commit(2);
  log.failing = true;
  feed.heardOf(2);
  await feed.settled();
  expect(problems).toHaveLength(1);
  log.failing = false;
  await feed.refresh({ headSeq: 2, queueRevision: 0 });
  await feed.settled();
  expect(watcher.seen).toEqual([1, 2]);
});

it('GW-24 believes the store when a frame told of more than there is', async () => {
  const log = new EventLog();
  const feed = feedOf(log);
  const watcher = new Watcher(0);
  feed.add(watcher);
  feed.heardOf(99);
  await feed.settled();
  expect(watcher.seen).toEqual([]);
  feed.frame(announcementOf(log.commit(1)));
  await feed.settled();
  expect(watcher.seen).toEqual([1]);
});

it('GW-24 asks a watcher to join again when what follows is not stored any more', async () => {
  const log = new EventLog();
  const feed = new ProjectFeed(
    PROJECT,
    {
      events: { after: async () => ({ events: [eventOf(8)], truncated: false }) },
      runs: { queue: async () => queueAt(1) },
    },
    () => undefined,
  );
  const watcher = new Watcher(3);
  feed.add(watcher);
  log.head = 8;
  watcher.mustResync = () => {
    watcher.resyncs += 1;
    feed.remove(watcher);
  };
  feed.heardOf(8);
  await feed.settled();
  expect([watcher.resyncs, watcher.seen]).toEqual([1, []]);
});

it('GW-32 leaves a slow watcher where it is and does not let it hold up the others', async () => {
  const log = new EventLog();
  const feed = feedOf(log);
  const [slow, fast] = [new Watcher(0), new Watcher(0)];
  feed.add(slow);
  feed.add(fast);
  slow.slow = true;
  feed.frame(announcementOf(log.commit(7)));
  await feed.settled();
  expect([slow.seen, fast.seen]).toEqual([[], range(1, 7)]);
  slow.slow = false;
  feed.catchUp();
  await feed.settled();
  expect(slow.seen).toEqual(range(1, 7));
});

it('GW-32 asks a watcher that is more than a thousand events behind to join again', async () => {
  const log = new EventLog();
  const feed = feedOf(log);
  const [near, far] = [new Watcher(0), new Watcher(0)];
  far.mustResync = () => {
    far.resyncs += 1;
    feed.remove(far);
  };
  feed.add(far);
  log.commit(999);
  far.slow = true;
  feed.heardOf(999);
  log.commit(2);
  const late = new Watcher(900);
  feed.add(late);
  far.slow = false;
  feed.heardOf(1001);
  await feed.settled();
  expect([far.resyncs, far.seen.length]).toEqual([1, 0]);
  expect(late.seen).toEqual(range(901, 1001));
  expect(near.resyncs).toBe(0);
});

it('GW-29, QUE-13 tells the queue again when a word of it was lost, though no event was, and only then', async () => {
  const log = new EventLog();
  const feed = feedOf(log, () => undefined, 4);
  const watcher = new Watcher(0);
  feed.add(watcher);
  feed.frame(announcementOf(log.commit(1), undefined, queueAt(3)));
  const { head: headSeq } = log;
  await feed.refresh({ headSeq, queueRevision: 3 });
  expect(watcher.queues).toEqual([]);
  await feed.refresh({ headSeq, queueRevision: 4 });
  await feed.refresh({ headSeq, queueRevision: 4 });
  expect(watcher.queues).toEqual([4]);
});

it('GW-28 drops live text of an older epoch of the same run', () => {
  const feed = feedOf(new EventLog());
  const texts: string[] = [];
  const watcher = new Watcher(0);
  watcher.frame = (frame) => {
    if (frame.kind === 'delta') texts.push(frame.delta.text);
  };
  feed.add(watcher);
  const say = (runId: string, epoch: number, text: string) =>
    feed.frame({
      kind: 'delta',
      delta: { projectId: PROJECT, runId, epoch, messageId: 'm', blockIndex: 0, blockType: 'text', offset: 0, text },
    });
  say('r', 1, 'one');
  say('r', 2, 'two');
  say('r', 1, 'stale');
  say('other', 1, 'other');
  expect(texts).toEqual(['one', 'two', 'other']);
});

it('GW-28 remembers a bounded number of runs', () => {
  const feed = feedOf(new EventLog());
  let count = 0;
  const watcher = new Watcher(0);
  watcher.frame = () => {
    count += 1;
  };
  feed.add(watcher);
  for (let run = 0; run < 1000; run += 1) {
    feed.frame({
      kind: 'delta',
      delta: {
        projectId: PROJECT,
        runId: `r${run}`,
        epoch: 1,
        messageId: 'm',
        blockIndex: 0,
        blockType: 'text',
        offset: 0,
        text: '',
      },
    });
  }
  expect(count).toBe(1000);
});
