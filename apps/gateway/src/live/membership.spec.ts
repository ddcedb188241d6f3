// A client that joins: what comes meanwhile is kept, what follows is passed on, what it cannot read waits.
import type { EventRecord, LiveFrame } from '#domain';
import { ClientConnection } from '../transport/client-connection.js';
import { Outbox } from '../transport/outbox.js';
import { OutboxProbe } from '../transport/outbox-probe.js';
import { Membership, type MembershipFeed, membershipKey } from './membership.js';

const PROJECT = '0190f3a4-0000-7000-8000-000000000001';

const eventOf = (seq: number, text = 'x', type: EventRecord['type'] = 'message.user'): EventRecord => ({
  projectId: PROJECT,
  seq,
  eventId: `0190f3a4-0000-7000-8000-${String(seq).padStart(12, '0')}`,
  type,
  sessionId: null,
  runId: null,
  payload: { text },
  createdAt: new Date(0),
});

const announcement = (events: EventRecord[], revision?: number): LiveFrame => ({
  kind: 'announcement',
  announcement: {
    projectId: PROJECT,
    events,
    dispatches: [],
    wakeHostIds: [],
    ...(revision === undefined ? {} : { queue: { projectId: PROJECT, revision, lanes: [] } }),
  },
});

class Feed implements MembershipFeed {
  readonly members = new Set<unknown>();
  caughtUp = 0;
  add(member: unknown): void {
    this.members.add(member);
  }
  remove(member: unknown): void {
    this.members.delete(member);
  }
  catchUp(): void {
    this.caughtUp += 1;
  }
}

function joining({ reading = true, maxMessageBytes = 1_000_000 } = {}) {
  const probe = new OutboxProbe({ reading });
  const outbox = new Outbox(probe, { deltaBytes: 500, holdBytes: 1000, closeBytes: 100_000 });
  const user = { userId: 'u', name: 'n', isAdmin: false };
  const connection = new ClientConnection({ connectionId: 'c', user, clientId: undefined, maxMessageBytes, outbox });
  const feed = new Feed();
  let released = 0;
  const lease = { feed, release: () => (released += 1) };
  const membership = new Membership(PROJECT, connection, lease);
  const seqs = () => probe.payloads('event').map((payload) => (payload as { seq: number }).seq);
  return { probe, connection, feed, membership, seqs, releases: () => released };
}

it('GW-26 keeps what comes while it joins and sends only what is above the answer', () => {
  const { membership, seqs, feed } = joining();
  membership.frame(announcement([eventOf(3)]));
  membership.frame(announcement([eventOf(4), eventOf(5)]));
  expect(seqs()).toEqual([]);
  membership.goLive(3, 0);
  expect(seqs()).toEqual([4, 5]);
  expect(feed.caughtUp).toBe(1);
});

it('GW-26 keeps a bounded number of frames; the feed fetches the rest', () => {
  const { membership, seqs, feed } = joining();
  for (let seq = 1; seq <= 1000; seq += 1) membership.frame(announcement([eventOf(seq)]));
  membership.goLive(0, 0);
  expect(seqs()).toHaveLength(256);
  expect(feed.caughtUp).toBe(1);
});

it('GW-29 pushes the queue only with a higher revision', () => {
  const { membership, probe } = joining();
  membership.frame(announcement([], 4));
  membership.goLive(0, 5);
  membership.frame(announcement([], 5));
  membership.frame(announcement([], 7));
  membership.frame(announcement([], 6));
  expect(probe.payloads('queue_changed')).toEqual([expect.objectContaining({ revision: 7 })]);
});

it('GW-30 cuts long texts to what the client wants', () => {
  const { membership, probe } = joining({ maxMessageBytes: 500 });
  membership.goLive(0, 0);
  membership.frame(announcement([eventOf(1, 'z'.repeat(5000))]));
  const [pushed] = probe.payloads('event') as { payload: { text: string } }[];
  expect(pushed?.payload.text).toMatch(/bytes missing/);
  expect(pushed?.payload.text.length).toBeLessThan(500);
});

it('GW-32 lets events wait while the client does not read, and goes on where it stopped', () => {
  const { membership, probe, seqs, feed } = joining({ reading: false });
  membership.goLive(0, 0);
  membership.frame(announcement([eventOf(1, 'a'.repeat(1000))]));
  membership.frame(announcement([eventOf(2)]));
  expect([seqs(), membership.position, membership.ready]).toEqual([[1], 1, false]);
  const before = feed.caughtUp;
  probe.read();
  expect([membership.ready, feed.caughtUp]).toEqual([true, before + 1]);
  membership.events([eventOf(2)]);
  expect(seqs()).toEqual([1, 2]);
});

it('GW-32 says resync_required and ends when it cannot go on', () => {
  const { membership, probe, connection, feed, releases } = joining();
  membership.goLive(0, 0);
  membership.mustResync();
  expect(probe.payloads('server_notice')).toEqual([
    expect.objectContaining({ code: 'resync_required', project_id: PROJECT }),
  ]);
  expect([connection.attachment(membershipKey(PROJECT)), feed.members.size, releases()]).toEqual([undefined, 0, 1]);
});

it('GW-27 pushes nothing after it left, also when the answer comes late', () => {
  const { membership, seqs } = joining();
  membership.frame(announcement([eventOf(1)]));
  membership.leave();
  membership.goLive(0, 0);
  expect(seqs()).toEqual([]);
});

it('GW-17 ends with the project', () => {
  const { membership, seqs, releases } = joining();
  membership.goLive(0, 0);
  membership.frame(announcement([eventOf(1, 'x', 'project.deleted')]));
  expect([seqs(), releases()]).toEqual([[1], 1]);
});

it('GW-24 replaces an earlier membership of the same connection', () => {
  const { connection, feed, membership } = joining();
  const again = new Membership(PROJECT, connection, { feed, release: () => undefined });
  expect([...feed.members]).toEqual([again]);
  membership.leave();
  expect(connection.attachment(membershipKey(PROJECT))).toBe(again);
});
