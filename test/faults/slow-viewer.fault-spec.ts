// A viewer that stops reading and lies about it costs the gateway little, and nobody else notices.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SocketClient, type Stack, startStack } from '#testing';
import { TestHost } from '../integration/gateway/gateway-fixture.js';

const MIB = 1024 * 1024;
const BYTES = 16 * MIB;
const PIECE = 256 * 1024;

let stack: Stack;
let host: TestHost;
const clients: SocketClient[] = [];
beforeAll(async () => {
  // A small young generation: how large it happens to have grown would be counted as the viewer's.
  stack = await startStack({ services: ['gateway'], gatewayEnv: { NODE_OPTIONS: '--max-semi-space-size=2' } });
  host = await TestHost.start(stack.database, stack.projectRoot);
}, 60_000);
afterAll(async () => {
  for (const client of clients) client.close();
  await host.close();
  await stack.close();
}, 60_000);

async function connect(): Promise<SocketClient> {
  const client = await SocketClient.connect(stack.url, { token: stack.adminToken });
  clients.push(client);
  return client;
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
/** The websocket beneath socket.io: paused, it leaves what comes in the kernel's buffers. */
const websocketOf = ({ socket }: SocketClient): { pause(): void; terminate(): void } =>
  (socket.io.engine.transport as unknown as { ws: { pause(): void; terminate(): void } }).ws;

/** Reads a stream to its end, acknowledging what came. */
async function follow(client: SocketClient, stream_id: string): Promise<number> {
  let received = 0;
  client.socket.on(
    'stream_data',
    ({ stream_id: id, offset, data }: { stream_id: string; offset: number; data: Buffer }) => {
      if (id !== stream_id) return;
      received += data.length;
      client.pushes.length = 0; // what was received is counted, not kept
      client.socket.emit('stream_ack', { stream_id, acked_offset: offset + data.length });
    },
  );
  const ended = new Promise<void>((resolve) => {
    client.socket.on('stream_end', ({ stream_id: id }: { stream_id: string }) => {
      if (id === stream_id) resolve();
    });
  });
  await client.call('stream_subscribe', { stream_id });
  await ended;
  return received;
}

async function command(admin: SocketClient) {
  const project = await admin.call('project_create', {
    path: `${stack.projectRoot}/${randomBytes(4).toString('hex')}`,
  });
  const { run_id } = await admin.call('execute_command', { project_id: project.project_id, command: 'x' });
  const run = await host.claim(run_id);
  return { run, run_id, writer: await host.startProcess(run) };
}

/** Three viewers read `BYTES`; gives the time that took, ms. */
async function showToThree(admin: SocketClient, before: (runId: string) => Promise<void>): Promise<number> {
  const { run, run_id, writer } = await command(admin);
  const viewers = await Promise.all([connect(), connect(), connect()]);
  await before(run_id);
  const started = performance.now();
  const reading = viewers.map((viewer) => follow(viewer, run_id));
  const piece = randomBytes(PIECE);
  for (let at = 0; at < BYTES; at += PIECE) await writer.write(piece);
  await host.finish(run);
  expect(await Promise.all(reading)).toEqual([BYTES, BYTES, BYTES]);
  return performance.now() - started;
}

it('RET-11 costs less than 32 MB, is resynced by offset, and the others do not notice', async () => {
  const admin = await connect();
  await showToThree(admin, async () => undefined); // the gateway has seen such a load
  const alone = await showToThree(admin, async () => undefined);
  const before = residentBytes(stack.service('gateway').pid);
  const slow = await connect();
  let streamId = '';
  const disturbed = await showToThree(admin, async (runId) => {
    streamId = runId;
    await slow.call('stream_subscribe', { stream_id: runId, window_bytes: 4 * MIB });
    websocketOf(slow).pause();
    // It says that it has read what it cannot have: what is not refused only moves its window on.
    for (let offset = 0; offset < BYTES; offset += MIB) {
      slow.socket.emit('stream_ack', { stream_id: runId, acked_offset: offset }, () => undefined);
    }
  });
  const cost = residentBytes(stack.service('gateway').pid) - before;
  process.stdout.write(`slow viewer: ${Math.round(cost / MIB)} MiB, ${(disturbed / alone).toFixed(2)}x the time\n`);
  expect(cost).toBeLessThan(32 * MIB);
  expect(disturbed / alone).toBeLessThan(2);
  websocketOf(slow).terminate();
  const back = await connect();
  back.socket.on('stream_data', () => undefined);
  const { start_offset } = await back.call('stream_subscribe', { stream_id: streamId, from_offset: BYTES - 1000 });
  expect(start_offset).toBe(BYTES - 1000);
  expect(await back.waitFor('stream_end', ({ stream_id }) => stream_id === streamId)).toMatchObject({
    end_offset: BYTES,
  });
}, 180_000);
