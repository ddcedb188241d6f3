// Numbers for those who asked, and warnings once.
import type { HostLoad, Usage } from '#domain';
import { newId } from '#kernel';
import { createLogger } from '#observability';
import { ClientConnection } from '../transport/client-connection.js';
import { OutboxProbe } from '../transport/outbox-probe.js';
import { Outbox } from '../transport/outbox.js';
import { StatsFeed } from './stats-feed.js';

const hostId = newId();
const usageOf = (freePercent: number): Usage => ({
  projectStates: { IDLE: 2, EXECUTING: 1 },
  activeSessions: 1,
  queues: [{ hostId, state: 'queued', count: 3, oldestMs: 1234.4 }],
  hosts: [{ hostId, held: true, lostAt: null, maxRuns: 4, load: loadOf(freePercent) }],
  databaseBytes: 10,
  outputBytes: 20,
  events: 30,
});
const loadOf = (freePercent: number): HostLoad => ({
  cpuPercent: 7,
  memoryUsedBytes: 3 * 1_048_576,
  memoryTotalBytes: 8 * 1_048_576,
  disks: [{ disk: 'data', freeBytes: freePercent, totalBytes: 100 }],
});

function feedOf(usage: Usage) {
  const state = { usage, reads: 0 };
  const notices: { code: string; message: string }[] = [];
  const feed = new StatsFeed({
    usage: {
      read: async () => {
        state.reads += 1;
        return state.usage;
      },
    },
    everyMs: 3_600_000,
    warnFreePercent: 10,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  feed.start({ size: 5, tell: (notice) => void notices.push(notice) });
  const connect = () => {
    const probe = new OutboxProbe({ reading: true });
    const outbox = new Outbox(probe);
    const user = { userId: newId(), name: 'u', isAdmin: false };
    const facts = { connectionId: newId(), user, clientId: undefined, maxMessageBytes: 1024, outbox };
    return { probe, connection: new ClientConnection(facts) };
  };
  return { feed, state, notices, connect };
}

it('RET-17 asks once per tick, whatever the number of sockets, and pushes only to those that asked and are there', async () => {
  const { feed, state, connect } = feedOf(usageOf(50));
  const clients = [connect(), connect(), connect()];
  for (const { connection } of clients) await feed.subscribe(connection);
  const silent = connect();
  state.reads = 0;
  await feed.tick();
  expect(state.reads).toBe(1);
  expect(clients.map(({ probe }) => probe.payloads('stats').length)).toEqual([1, 1, 1]);
  expect(silent.probe.sent).toEqual([]);
  clients[0]?.connection.end();
  feed.unsubscribe(clients[1]!.connection);
  await feed.tick();
  expect(clients.map(({ probe }) => probe.payloads('stats').length)).toEqual([1, 1, 2]);
  expect(clients[2]?.probe.payloads('stats')[1]).toMatchObject({
    projects: 3,
    connections: 5,
    queues: [{ host_id: hostId, state: 'queued', count: 3, oldest_ms: 1234 }],
    hosts: [{ host_id: hostId, held: true, cpu_percent: 7, memory_mb: 3, memory_total_mb: 8 }],
  });
  await feed.stop();
});

it('RET-16 warns once of a disk that is nearly full, and again after it had room', async () => {
  const { feed, state, notices } = feedOf(usageOf(9));
  await feed.tick();
  await feed.tick();
  expect(notices).toEqual([{ code: 'disk.low', message: expect.stringContaining('9 % free') as string }]);
  expect(feed.lowDisks).toHaveLength(1);
  state.usage = usageOf(10);
  await feed.tick();
  expect(feed.lowDisks).toEqual([]);
  state.usage = usageOf(2);
  await feed.tick();
  expect(notices).toHaveLength(2);
  await feed.stop();
});

it('RET-16 says nothing of the disks of a host that nobody holds', async () => {
  const usage = usageOf(1);
  const { feed, notices } = feedOf({ ...usage, hosts: usage.hosts.map((host) => ({ ...host, held: false })) });
  await feed.tick();
  expect(notices).toEqual([]);
  await feed.stop();
});
