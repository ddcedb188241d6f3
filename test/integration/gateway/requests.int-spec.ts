// Every event is answered once, whatever it is, and nothing of it is left in the log.
import { newId } from '#kernel';
import { CLIENT_EVENTS, type ClientEventName } from '#protocol';
import type { SocketClient } from '#testing';
import { eventually } from './eventually.js';
import { ADMIN_TOKEN, GatewayFixture, type RunningGateway } from './gateway-fixture.js';

const LIMIT = 4096;

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({
    env: { GANTRY_MAX_MESSAGE_BYTES: String(LIMIT) },
    tuning: { requestDeadlineMs: 1500, maxPending: 20 },
  });
  client = await fixture.client(gateway);
});
afterAll(() => fixture.close());

it.each(['nothing', 'error', '__proto__', 'constructor', 'newEvent', '', 'hello', 'message'])(
  'GW-6 answers the unknown event %p',
  async (event) => {
    expect(await client.refusal(event, {})).toMatchObject({ code: 'request.unknown_event', kind: 'invalid' });
  },
);

it('GW-6 answers without a payload, and a payload that is not one object', async () => {
  expect((await client.raw('ping')).ok).toBe(true);
  expect((await client.raw('ping', null)).ok).toBe(true);
  for (const wrong of ['x', 7, [], [{}], true]) {
    expect(await client.refusal('ping', wrong)).toMatchObject({ code: 'request.invalid_payload' });
  }
  expect(await client.refusal('ping', {}, {})).toMatchObject({ code: 'request.invalid_payload' });
  expect(await client.refusal('ping', Buffer.from('binary'))).toMatchObject({ code: 'request.invalid_payload' });
});

it('GW-6 serves an event without an acknowledgement function and answers nothing', async () => {
  const project = await fixture.project(client);
  client.socket.emit('project_update', { project_id: project.project_id, name: 'renamed without an answer' });
  client.socket.emit('nothing', {});
  client.socket.emit('execute', { wrong: true });
  // The same project: served after the update.
  const run = await client.call('run_list', { project_id: project.project_id });
  expect(run.runs).toEqual([]);
  const { projects } = await client.call('project_list', {});
  expect(projects.map(({ name }) => name)).toContain('renamed without an answer');
});

it('GW-6, GW-7 refuses every event of the catalogue with an unknown key, by its field', async () => {
  for (const event of Object.keys(CLIENT_EVENTS) as ClientEventName[]) {
    const refused = await client.refusal(event, { surprise: 1 });
    expect([event, refused.code, JSON.stringify(refused.details)]).toEqual([
      event,
      'request.invalid_payload',
      expect.stringContaining('surprise'),
    ]);
  }
});

it('GW-7 names option values that look like flags, NUL bytes and wrong ids', async () => {
  const project_id = newId();
  const fieldsOf = async (event: string, payload: object) => {
    const { code, details } = await client.refusal(event, payload);
    expect(code).toBe('request.invalid_payload');
    return (details as { fields: { path: string }[] }).fields.map(({ path }) => path);
  };
  expect(await fieldsOf('execute', { project_id, prompt: 'x', options: { model: '--x', add_dirs: ['-y'] } })).toEqual([
    'options.model',
    'options.add_dirs.0',
  ]);
  expect(await fieldsOf('execute_command', { project_id, command: 'a\0b' })).toEqual(['command']);
  expect(await fieldsOf('execute_command', { project_id, command: ['a', 'b\0'] })).toEqual(['command.1']);
  expect(await fieldsOf('execute_command', { project_id, command: 'a', working_directory: 'x\0' })).toEqual([
    'working_directory',
  ]);
  expect(await fieldsOf('run_cancel', { run_id: '1; DROP TABLE run' })).toEqual(['run_id']);
});

it.each([
  ['project_join', { project_id: newId() }, 'project.not_found'],
  ['execute', { project_id: newId(), prompt: 'x' }, 'project.not_found'],
  ['run_cancel', { run_id: newId() }, 'run.not_found'],
  ['stream_subscribe', { stream_id: newId() }, 'stream.not_found'],
  ['get_command_output', { command_session_id: `cmd-${newId()}` }, 'run.not_found'],
  ['permission_get', { request_id: newId() }, 'permission.not_found'],
  ['permission_respond', { request_id: newId(), input_hash: 'h', behavior: 'allow' }, 'permission.not_found'],
])('GW-8 says of %s of something unknown that it does not exist', async (event, payload, code) => {
  expect(await client.refusal(event, payload)).toMatchObject({ code, kind: 'not_found' });
});

it('GW-8 shows a project only to those who have a role in it, and lets each do what the role allows', async () => {
  const { project_id } = await fixture.project(client);
  const run = await client.call('execute', { project_id, prompt: 'hello' });
  const stranger = await fixture.client(gateway, await fixture.user());
  const viewer = await fixture.client(gateway, await fixture.user({ projectId: project_id, role: 'viewer' }));
  const editor = await fixture.client(gateway, await fixture.user({ projectId: project_id, role: 'editor' }));

  expect(await stranger.refusal('project_join', { project_id })).toMatchObject({ code: 'project.not_found' });
  expect(await stranger.refusal('run_cancel', { run_id: run.run_id })).toMatchObject({ code: 'run.not_found' });
  expect((await stranger.call('project_list', {})).projects).toEqual([]);
  expect((await stranger.call('session_list', { project_id })).sessions).toEqual([]);

  expect((await viewer.call('project_join', { project_id })).head_seq).toBeGreaterThan(0);
  expect((await viewer.call('session_list', {})).sessions).toHaveLength(1);
  expect(await viewer.refusal('execute', { project_id, prompt: 'x' })).toMatchObject({
    code: 'auth.forbidden',
    details: { role: 'viewer', needed: 'editor' },
  });
  expect(await editor.refusal('project_delete', { project_id })).toMatchObject({ code: 'auth.forbidden' });
  expect((await editor.call('run_cancel', { run_id: run.run_id })).run_id).toBe(run.run_id);
});

it('GW-9 serves what one connection sends about a project in the order in which it was sent', async () => {
  const { project_id } = await fixture.project(client);
  const prompts = Array.from({ length: 15 }, (_, index) => `prompt ${index}`);
  await Promise.all(prompts.map((prompt) => client.call('execute', { project_id, prompt })));
  const { events } = await client.call('project_join', { project_id });
  const said = events.flatMap(({ type, payload }) => (type === 'message.user' ? [payload['text']] : []));
  expect(said).toEqual(prompts);
});

/** A ping whose frame has exactly this many bytes. `id`: how often this client has asked for an answer before. */
function pingOf(bytes: number, id: number): object {
  const frame = (pad: string) => `42${id}${JSON.stringify(['ping', { pad }])}`;
  return { pad: 'x'.repeat(bytes - frame('').length) };
}

it('GW-10 takes a frame of the limit, answers one byte more with request.too_large, and stays', async () => {
  const fresh = await fixture.client(gateway);
  expect(await fresh.refusal('ping', pingOf(LIMIT, 0))).toMatchObject({ code: 'request.invalid_payload' });
  expect(await fresh.refusal('ping', pingOf(LIMIT + 1, 1))).toMatchObject({
    code: 'request.too_large',
    details: { bytes: LIMIT + 1, max_frame_bytes: LIMIT },
  });
  expect((await fresh.call('ping', {})).server_time).toBeTruthy();
});

it('GW-10 counts the bytes of binary attachments', async () => {
  const fresh = await fixture.client(gateway);
  expect(await fresh.refusal('ping', { pad: Buffer.alloc(LIMIT) })).toMatchObject({ code: 'request.too_large' });
});

it('GW-10 closes with code 1009 at more than twice the limit', async () => {
  const fresh = await fixture.client(gateway);
  const gone = fresh.disconnected();
  fresh.socket.emit('ping', { pad: 'x'.repeat(2 * LIMIT) });
  expect(await gone).toMatchObject({ reason: 'transport close', details: { context: { code: 1009 } } });
  expect((await client.call('ping', {})).server_time).toBeTruthy();
});

/** Signs in by hand and sends frames as they are; resolves when the connection is closed. */
async function sendRaw(frames: (string | Uint8Array<ArrayBuffer>)[]): Promise<void> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  await new Promise<void>((resolve) => {
    socket.onclose = () => resolve();
    socket.onmessage = ({ data }) => {
      const text = String(data);
      if (text.startsWith('0')) socket.send(`40${JSON.stringify({ token: ADMIN_TOKEN, protocol: 1 })}`);
      if (text.startsWith('42["hello"')) for (const frame of frames) socket.send(frame);
    };
  });
}

it.each([
  ['no JSON', ['42[']],
  ['no event', ['42{}']],
  ['a name that socket.io keeps for itself', ['420["disconnect",{}]']],
  ['an unknown packet type', ['49[]']],
  ['a second sign-in', [`40${JSON.stringify({ token: ADMIN_TOKEN, protocol: 1 })}`]],
  ['more attachments than any event has', ['4599-["ping",{"_placeholder":true,"num":0}]']],
  ['text where an attachment was announced', ['451-["ping",{"_placeholder":true,"num":0}]', '42["ping",{}]']],
  ['an attachment that nobody announced', [new Uint8Array([1, 2, 3])]],
  ['a wrong attachment number', ['451-["ping",{"_placeholder":true,"num":7}]', new Uint8Array([1])]],
])('GW-49 closes a connection that sends %s', async (_, frames) => {
  await sendRaw(frames);
  expect((await client.call('ping', {})).server_time).toBeTruthy();
});

it('GW-11 refuses what is too much at once, and GW-13 answers what takes too long', async () => {
  const { project_id } = await fixture.project(client);
  const fresh = await fixture.client(gateway);
  const release = await fixture.lockProject(project_id);
  try {
    const asked = Array.from({ length: 25 }, (_, index) =>
      fresh.raw('project_update', { project_id, name: `name ${index}` }),
    );
    const refused = (await Promise.all(asked.slice(20))).map((answer) => !answer.ok && answer.error.code);
    expect(refused).toEqual(Array(5).fill('request.rate_limited'));
    expect(await asked[0]).toMatchObject({ ok: false, error: { code: 'service.timeout', retryable: true } });
    await release();
    await Promise.all(asked);
  } finally {
    await release();
  }
});

it('GW-13 shows nothing of what went wrong inside', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'x' });
  const rename = (from: string, to: string) =>
    fixture.database.db.run((db) => db.$executeRawUnsafe(`ALTER TABLE run RENAME COLUMN ${from} TO ${to}`));
  await rename('exit_code', 'exit_code_of_another_version');
  const refused = await client.refusal('run_cancel', { run_id });
  await rename('exit_code_of_another_version', 'exit_code');
  expect(refused).toMatchObject({ code: 'internal.unexpected', message: 'Something went wrong on our side.' });
  expect(JSON.stringify(refused)).not.toMatch(/exit_code|prisma|select|node_modules/i);
});

it('GW-14 leaves one line per request with event, code, duration and correlation id, and nothing of the payload', async () => {
  const { project_id } = await fixture.project(client);
  const quiet = await fixture.client(gateway);
  const secret = `correct horse battery staple ${newId()}`;
  await quiet.call('execute', { project_id, prompt: secret });
  const refused = await quiet.refusal('execute', { project_id, prompt: secret, nonsense: secret });
  await quiet.refusal(secret, { [secret]: secret });
  const lines = gateway.log.filter((line) => line['msg'] === 'command' && line['connection_id'] === quiet.socket.id);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'info',
      event: 'execute',
      code: 'ok',
      duration_ms: expect.any(Number) as number,
      correlation_id: expect.any(String) as string,
      user_id: client.hello.user.user_id,
    }),
    expect.objectContaining({
      event: 'execute',
      code: 'request.invalid_payload',
      correlation_id: refused.correlation_id,
    }),
    expect.objectContaining({ event: 'unknown', code: 'request.unknown_event' }),
  ]);
  expect(JSON.stringify(gateway.log)).not.toContain('battery');
});

it('GW-53 logs a few refusals of a connection and the number of the others', async () => {
  const strict = await fixture.gateway({ tuning: { loggedRefusals: 3 } });
  const flooding = await fixture.client(strict);
  const calm = await fixture.client(strict);
  const id = flooding.socket.id;
  const linesOf = (connection: unknown) => strict.log.filter((line) => line['connection_id'] === connection);
  await Promise.all(Array.from({ length: 40 }, () => flooding.refusal('execute', { nonsense: true })));
  await flooding.call('ping', {});
  await calm.refusal('nonsense', {});
  flooding.close();
  await eventually(
    async () => {
      await calm.call('health', {});
      return linesOf(id);
    },
    (lines) => lines.some(({ msg }) => msg === 'connection closed'),
  );
  const lines = linesOf(id);
  expect(lines.filter(({ code }) => code === 'request.invalid_payload')).toHaveLength(3);
  expect(lines.filter(({ code }) => code === 'ok')).toHaveLength(1);
  expect(lines.filter(({ msg }) => msg === 'refusals not logged')).toEqual([
    expect.objectContaining({ suppressed: 37 }),
  ]);
  expect(linesOf(calm.socket.id).filter(({ code }) => code === 'request.unknown_event')).toHaveLength(1);
});
