// A client that stops reading costs a bounded amount, and nobody else notices.
import type { SocketClient } from '#testing';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

const KIB = 1024;

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({
    tuning: { outboxBounds: { deltaBytes: 64 * KIB, holdBytes: 256 * KIB, closeBytes: 2048 * KIB }, tickMs: 3_600_000 },
  });
  client = await fixture.client(gateway);
});
afterAll(() => fixture.close());

/** The websocket beneath socket.io: paused, it leaves what comes in the kernel's buffers. */
const websocketOf = ({ socket }: SocketClient): { pause(): void; resume(): void } =>
  (socket.io.engine.transport as unknown as { ws: { pause(): void; resume(): void } }).ws;

async function working() {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute_command', { project_id, command: 'x' });
  return { project_id, run: await fixture.host.claim(run_id) };
}

it('GW-32 lets the events of a client that does not read wait, and gives them all when it reads again', async () => {
  const { project_id, run } = await working();
  const [slow, fast] = [await fixture.client(gateway), await fixture.client(gateway)];
  const { head_seq } = await slow.call('project_join', { project_id });
  await fast.call('project_join', { project_id });
  websocketOf(slow).pause();
  // More than the kernel takes for the slow one.
  for (let round = 0; round < 10; round += 1) await fixture.host.append(run, 20, 'e'.repeat(100 * KIB));
  await fast.waitFor('event', ({ seq }) => seq === head_seq + 200);
  expect(slow.all('event').length).toBeLessThan(200);
  websocketOf(slow).resume();
  await slow.waitFor('event', ({ seq }) => seq === head_seq + 200);
  expect(slow.all('event').map(({ seq }) => seq)).toEqual(
    Array.from({ length: 200 }, (_, index) => head_seq + 1 + index),
  );
  expect(slow.all('server_notice')).toEqual([]);
});

it('GW-33 cuts a client off that asks and does not read the answers', async () => {
  const { project_id, run } = await working();
  await fixture.host.append(run, 9, 'a'.repeat(100 * KIB));
  const deaf = await fixture.client(gateway);
  websocketOf(deaf).pause();
  for (let asked = 0; asked < 60; asked += 1)
    deaf.socket.emit('get_messages', { project_id, limit: 50 }, () => undefined);
  const closed = () => gateway.log.some((line) => line['msg'] === 'connection closed' && line['connection_id'] === id);
  const id = deaf.socket.id;
  // The gateway's own log is what tells: the client itself hears nothing while it does not read.
  while (!closed()) await client.call('ping', {});
  expect((await client.call('ping', {})).server_time).toBeTruthy();
});
