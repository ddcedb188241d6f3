// Who is let in, and what others are told.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { CallError, SocketClient } from '#testing';
import { ADMIN_TOKEN, GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({ tuning: { handshakeDeadlineMs: 300 } });
});
afterAll(() => fixture.close());

const refusal = async (options: Parameters<typeof SocketClient.connect>[1]): Promise<unknown> => {
  try {
    (await SocketClient.connect(gateway.url, options)).close();
  } catch (error) {
    return error instanceof CallError ? error.error : error;
  }
  throw new Error('it was let in');
};

it('GW-2 refuses without a token, and with a wrong one', async () => {
  expect(await refusal({})).toMatchObject({ code: 'auth.token_missing', kind: 'unauthenticated' });
  expect(await refusal({ token: '' })).toMatchObject({ code: 'auth.token_missing' });
  expect(await refusal({ token: 'gnt_wrong' })).toMatchObject({
    code: 'auth.token_invalid',
    retryable: false,
    correlation_id: expect.any(String) as string,
  });
});

it('GW-2 refuses another protocol with the range it speaks, before it looks at the rest', async () => {
  expect(await refusal({ token: ADMIN_TOKEN, protocol: 2 })).toMatchObject({
    code: 'protocol.unsupported_version',
    details: { min: 1, max: 1 },
  });
  expect(await refusal({ protocol: 0 })).toMatchObject({ code: 'protocol.unsupported_version' });
});

it.each([
  [{ protocol: 'one' }, 'protocol'],
  [{ token: 7 }, 'token'],
  [{ token: ['x'] }, 'token'],
  [{ max_message_kb: 49 }, 'max_message_kb'],
  [{ max_message_kb: 1025 }, 'max_message_kb'],
  [{ client_id: '' }, 'client_id'],
])('GW-2 refuses the handshake %p by its field', async (auth, field) => {
  expect(await refusal({ token: ADMIN_TOKEN, auth })).toMatchObject({
    code: 'request.invalid_payload',
    details: { fields: [expect.objectContaining({ path: field })] },
  });
});

it('GW-2 refuses a token that was revoked or is over', async () => {
  const { token, userId } = await fixture.user();
  (await fixture.client(gateway, { token })).close();
  const set = (data: { revokedAt?: Date; expiresAt?: Date | null }) =>
    fixture.database.db.run(({ apiToken }) => apiToken.updateMany({ where: { userId }, data }));
  await set({ expiresAt: new Date(Date.now() - 1000) });
  expect(await refusal({ token })).toMatchObject({ code: 'auth.token_invalid' });
  await set({ expiresAt: null, revokedAt: new Date() });
  expect(await refusal({ token })).toMatchObject({ code: 'auth.token_invalid' });
});

/** An upgrade as a browser would ask for it. */
async function upgrade(headers: Record<string, string>, path = '/socket.io/?EIO=4&transport=websocket') {
  const { port, hostname } = new URL(gateway.url);
  const asked = request({
    port,
    hostname,
    path,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  });
  asked.end();
  const upgraded = once(asked, 'upgrade').then(([response, socket]) => {
    (socket as { destroy(): void }).destroy();
    return { status: (response as IncomingMessage).statusCode, body: '' };
  });
  const answered = once(asked, 'response').then(async ([response]) => {
    const message = response as IncomingMessage;
    return { status: message.statusCode, type: message.headers['content-type'], body: await text(message) };
  });
  return Promise.race([upgraded, answered]);
}

it('GW-3 refuses a foreign page before the upgrade, with a problem document', async () => {
  const refused = await upgrade({ origin: 'https://evil.example' });
  expect(refused).toMatchObject({ status: 403, type: 'application/problem+json' });
  expect(JSON.parse(refused.body)).toMatchObject({ status: 403, code: 'auth.origin_refused' });
  expect(await refusal({ token: ADMIN_TOKEN, origin: 'https://evil.example' })).toBeInstanceOf(Error);
});

it('GW-3 lets its own page, listed pages and programs in', async () => {
  expect(await upgrade({ origin: gateway.url })).toMatchObject({ status: 101 });
  expect(await upgrade({})).toMatchObject({ status: 101 });
  const listed = await fixture.gateway({ env: { GANTRY_ALLOWED_ORIGINS: 'https://console.example.org' } });
  const client = await fixture.client(listed, { origin: 'https://console.example.org' });
  expect(client.hello.version).toBe('0.0.0-test');
});

it('GW-1 speaks websocket only', async () => {
  const response = await fetch(`${gateway.url}/socket.io/?EIO=4&transport=polling`);
  expect(response.status).toBe(400);
  expect(await response.text()).not.toContain('sid');
});

it('GW-4 cuts a connection that does not sign in', async () => {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  const startedAt = performance.now();
  await new Promise((resolve) => {
    socket.onclose = resolve;
  });
  expect(performance.now() - startedAt).toBeLessThan(3000);
});

it('GW-5 says hello with version, protocol, user, limits and roots', async () => {
  const demo = await fixture.gateway({ env: { GANTRY_DEMO_MODEL: '1', GANTRY_RUN_TIMEOUT_MS: '60000' } });
  const { hello, pushes } = await fixture.client(demo, { maxMessageKb: 100 });
  expect(pushes[0]?.event).toBe('hello');
  expect(hello).toMatchObject({
    version: '0.0.0-test',
    protocol: { min: 1, max: 1 },
    user: { name: 'admin', is_admin: true },
    limits: { max_message_kb: 100, max_frame_bytes: 1_048_576, run_timeout_ms: 60_000, run_timeout_max_ms: 3_600_000 },
    demo_model: true,
    project_roots: [fixture.root],
  });
});

it('GW-46 signs the administrator in after every start', async () => {
  for (let start = 0; start < 2; start += 1) {
    const again = await fixture.gateway();
    expect((await fixture.client(again)).hello.user.is_admin).toBe(true);
  }
});

it('GW-14 leaves one line when a connection opens and one when it closes, and no token in any', async () => {
  const quiet = await fixture.gateway();
  const client = await fixture.client(quiet);
  await client.call('ping', {});
  const gone = client.disconnected();
  client.close();
  await gone;
  await quiet.app.close();
  const about = quiet.log.filter((line) => line['connection_id'] !== undefined && line['msg'] !== 'command');
  expect(about.map(({ msg, level }) => [msg, level])).toEqual([
    ['connection opened', 'info'],
    ['connection closed', 'info'],
  ]);
  expect(JSON.stringify(quiet.log)).not.toContain(ADMIN_TOKEN);
});
