// npm run bench:fanout - one project's live text to 1, 100 and 1,000 sockets of a gateway, against a bare socket.io server that does
// nothing but that, in the same run; the memory of a connection; and a join that has missed 1,000 events. Prints ratios; asserts nothing.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { io, type Socket } from 'socket.io-client';
import { createRedis, redisKeys, RedisLiveBus, RedisSubscriber } from '#jobs';
import { instanceId } from '#persistence';
import { startStack, type Stack, testEnv } from '#testing';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1,100,1000' },
    frames: { type: 'string', default: '200' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log('usage: npm run bench:fanout -- [--sockets 1,100,1000] [--frames 200]');
  process.exit(0);
}
const SOCKETS = values.sockets.split(',').map(Number);
const FRAMES = Number(values.frames);
const TEXT = 'x'.repeat(200);
const ROUNDS = 3;

interface Place {
  sockets: Socket[];
  publish: (index: number) => void;
}

async function connect(url: string, count: number, auth: object, joining: (socket: Socket) => Promise<void>) {
  const sockets: Socket[] = [];
  // A few at a time: a thousand handshakes at once would measure something else.
  for (let from = 0; from < count; from += 25) {
    const some = Array.from({ length: Math.min(25, count - from) }, async () => {
      const socket = io(url, { transports: ['websocket'], auth, reconnection: false, forceNew: true });
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', () => {
          resolve();
        });
        socket.once('connect_error', reject);
      });
      await joining(socket);
      return socket;
    });
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

/** Time until every socket has all of the text, however it was cut into frames, ms. */
async function spread({ sockets, publish }: Place): Promise<number> {
  const expected = FRAMES * TEXT.length;
  const all = sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        let heard = 0;
        const listener = ({ text }: { text: string }): void => {
          heard += text.length;
          if (heard < expected) return;
          socket.off('delta', listener);
          resolve();
        };
        socket.on('delta', listener);
      }),
  );
  const started = performance.now();
  for (let index = 0; index < FRAMES; index += 1) publish(index);
  await Promise.all(all);
  return performance.now() - started;
}

async function measured(place: Place): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) times.push(await spread(place));
  for (const socket of place.sockets) socket.disconnect();
  return median(times.slice(1));
}

async function rssBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

async function call(socket: Socket, event: string, payload: object): Promise<Record<string, unknown>> {
  const ack = (await socket.timeout(60_000).emitWithAck(event, payload)) as {
    ok: boolean;
    data: object;
    error?: object;
  };
  if (!ack.ok) throw new Error(`${event}: ${JSON.stringify(ack.error)}`);
  return ack.data as Record<string, unknown>;
}

async function gatewayPlace(stack: Stack, bus: RedisLiveBus, projectId: string, count: number) {
  const before = await rssBytes(stack.service('gateway').pid);
  const auth = { token: stack.adminToken, protocol: 1 };
  const sockets = await connect(stack.url, count, auth, async (socket) => {
    await call(socket, 'project_join', { project_id: projectId });
  });
  const perSocket = ((await rssBytes(stack.service('gateway').pid)) - before) / count;
  const runId = randomUUID();
  let offset = 0;
  const publish = (index: number): void => {
    const messageId = `m${Math.floor(offset / (FRAMES * TEXT.length))}`;
    const delta = { projectId, runId, epoch: 1, messageId, blockIndex: 0, blockType: 'text' as const };
    bus.publish(projectId, { kind: 'delta', delta: { ...delta, offset: index * TEXT.length, text: TEXT } });
    offset += TEXT.length;
  };
  return { place: { sockets, publish }, perSocket };
}

async function rawPlace(redisUrl: string, count: number) {
  const channel = `bench-${randomUUID()}`;
  const child = fork(join(import.meta.dirname, 'raw-fanout.ts'), [channel, redisUrl]);
  const port = await new Promise<number>((resolve) => {
    child.once('message', (message) => {
      resolve((message as { port: number }).port);
    });
  });
  const before = await rssBytes(child.pid ?? 0);
  const sockets = await connect(`http://127.0.0.1:${port}`, count, {}, async (socket) => {
    await socket.emitWithAck('join');
  });
  const perSocket = ((await rssBytes(child.pid ?? 0)) - before) / count;
  const redis = new Redis(redisUrl);
  const frame = { project_id: randomUUID(), run_id: randomUUID(), message_id: 'm', block_index: 0, block_type: 'text' };
  const publish = (index: number): void => {
    void redis.publish(channel, JSON.stringify({ ...frame, offset: index * TEXT.length, text: TEXT }));
  };
  const close = (): void => {
    redis.disconnect();
    child.disconnect();
  };
  return { place: { sockets, publish }, perSocket, close };
}

/** A join that has missed as many events as one page holds. */
async function missedEvents(stack: Stack, projectId: string): Promise<number[]> {
  const { client } = stack.database.db;
  await client.$executeRaw`INSERT INTO event (project_id, seq, id, type, payload, payload_bytes)
    SELECT ${projectId}::uuid, head_seq + n, gen_random_uuid(), 'message.system', '{"text":"something happened"}', 30
    FROM project_head, generate_series(1, 1000) n WHERE project_id = ${projectId}::uuid`;
  await client.$executeRaw`UPDATE project_head SET head_seq = head_seq + 1000 WHERE project_id = ${projectId}::uuid`;
  const { headSeq } = await client.projectHead.findUniqueOrThrow({ where: { projectId } });
  const [socket] = await connect(stack.url, 1, { token: stack.adminToken, protocol: 1 }, async () => undefined);
  const times: number[] = [];
  for (let round = 0; socket !== undefined && round < 12; round += 1) {
    const started = performance.now();
    const { events } = await call(socket, 'project_join', { project_id: projectId, since_seq: Number(headSeq) - 1000 });
    if ((events as unknown[]).length !== 1000) throw new Error('the join left events out');
    times.push(performance.now() - started);
    await call(socket, 'project_leave', { project_id: projectId });
  }
  socket?.disconnect();
  return times.slice(2);
}

const { redisUrl } = testEnv();
const stack = await startStack({ env: { LOG_LEVEL: 'warn' } });
const report = (): void => undefined;
const commands = createRedis(redisUrl, { name: 'bench', role: 'commands', report });
const subscriptions = createRedis(redisUrl, { name: 'bench', role: 'subscriber', report });
const bus = new RedisLiveBus({
  redis: commands,
  subscriber: new RedisSubscriber(subscriptions, report),
  keys: redisKeys(await instanceId(stack.database.db)),
  report,
});
try {
  const [setup] = await connect(stack.url, 1, { token: stack.adminToken, protocol: 1 }, async () => undefined);
  if (setup === undefined) throw new Error('no connection');
  const project = await call(setup, 'project_create', { path: `${stack.projectRoot}/bench` });
  const projectId = String(project['project_id']);
  setup.disconnect();
  for (const count of SOCKETS) {
    const raw = await rawPlace(redisUrl, count);
    const rawMs = await measured(raw.place);
    raw.close();
    const { place, perSocket } = await gatewayPlace(stack, bus, projectId, count);
    const ms = await measured(place);
    console.log(
      `${FRAMES} frames to ${count} sockets: ${ms.toFixed(0)} ms against ${rawMs.toFixed(0)} ms by bare socket.io: ${(ms / rawMs).toFixed(2)}x;` +
        ` memory of a connection ${(perSocket / 1024).toFixed(0)} KiB against ${(raw.perSocket / 1024).toFixed(0)} KiB`,
    );
  }
  const joins = await missedEvents(stack, projectId);
  console.log(`project_join with 1,000 missed events: ${median(joins).toFixed(1)} ms (n=${joins.length})`);
} finally {
  commands.disconnect();
  subscriptions.disconnect();
  await stack.close();
}
process.exit(0);
