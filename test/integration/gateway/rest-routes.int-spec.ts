// The HTTP routes for scripts against a running gateway: who may use them, and what they do.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { newId } from '#kernel';
import {
  CLIENT_EVENTS,
  type ProjectInfo,
  REST_ROUTE_NAMES,
  restRoute,
  type RunInfo,
  type SessionInfo,
} from '#protocol';
import { ADMIN_TOKEN, GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { type Json, RestClient } from './rest-client.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let admin: RestClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  admin = new RestClient(gateway);
});
afterAll(() => fixture.close());

const project = (): Promise<ProjectInfo> =>
  admin.json('POST', '/projects', { body: { path: join(fixture.root, newId()) } });
const prompt = (projectId: string, text = 'x'): Promise<RunInfo> =>
  admin.json('POST', `/projects/${projectId}/runs`, { body: { kind: 'prompt', prompt: text } });
const command = (projectId: string, line = 'true'): Promise<RunInfo> =>
  admin.json('POST', `/projects/${projectId}/runs`, { body: { kind: 'command', command: line } });

it('REST-1 makes, shows, lists, changes and removes a project as the socket does', async () => {
  const path = join(fixture.root, newId());
  const made = await admin.ask('POST', '/projects', { body: { path, name: 'one' } });
  const info = made.body as ProjectInfo;
  expect([made.status, made.headers.get('location')]).toEqual([201, `/api/v1/projects/${info.project_id}`]);
  expect(await admin.json('GET', `/projects/${info.project_id}`)).toEqual(info);
  const renamed = await admin.json<ProjectInfo>('PATCH', `/projects/${info.project_id}`, { body: { name: 'two' } });
  expect(renamed.name).toBe('two');
  const socket = await fixture.client(gateway);
  expect(await socket.call('project_get', { project_id: info.project_id })).toEqual(
    await admin.json('GET', `/projects/${info.project_id}`),
  );
  const { projects } = await admin.json<{ projects: ProjectInfo[] }>('GET', '/projects?limit=1');
  expect(projects).toHaveLength(1);
  const gone = await admin.ask('DELETE', `/projects/${info.project_id}`);
  expect([gone.status, gone.body]).toEqual([204, '']);
  expect(await admin.refusal('GET', `/projects/${info.project_id}`)).toEqual([404, 'project.not_found']);
});

it('REST-1 queues, shows, lists and cancels runs, and shows their conversation', async () => {
  const { project_id } = await project();
  const first = await prompt(project_id, 'first line\nsecond');
  const second = await command(project_id);
  expect([first.kind, first.title, second.kind, second.status, second.position]).toEqual([
    'prompt',
    'first line',
    'command',
    'queued',
    0,
  ]);
  const { runs } = await admin.json<{ runs: RunInfo[] }>('GET', `/projects/${project_id}/runs?status=queued`);
  expect(runs.map(({ run_id }) => run_id)).toEqual([second.run_id]);
  const cancelled = await admin.json<RunInfo>('POST', `/runs/${second.run_id}/cancel`);
  expect(cancelled.status).toBe('cancelled');
  expect(await admin.refusal('POST', `/runs/${second.run_id}/cancel`)).toEqual([409, 'run.already_finished']);
  const session = await admin.json<SessionInfo>('GET', `/sessions/${first.session_id ?? ''}`);
  expect(session).toMatchObject({ project_id, session_id: first.session_id });
  const listed = await admin.json<{ sessions: SessionInfo[] }>('GET', `/projects/${project_id}/sessions`);
  expect(listed.sessions).toEqual([session]);
});

it('REST-2 gives the first run again under the same Idempotency-Key, and refuses it for another payload', async () => {
  const { project_id } = await project();
  const ask = (text: string) =>
    admin.ask('POST', `/projects/${project_id}/runs`, {
      body: { kind: 'command', command: text },
      headers: { 'idempotency-key': 'once' },
    });
  const [first, again, other] = [await ask('true'), await ask('true'), await ask('false')];
  expect([first.status, again.status]).toEqual([201, 201]);
  expect((again.body as RunInfo).run_id).toBe((first.body as RunInfo).run_id);
  expect([other.status, (other.body as Json).code]).toEqual([409, 'request.idempotency_mismatch']);
  // The socket's key of the same use-case is the same key.
  const socket = await fixture.client(gateway);
  const same = await socket.call('execute_command', { project_id, command: 'true', idempotency_key: 'once' });
  expect(same.run_id).toBe((first.body as RunInfo).run_id);
});

describe.each(REST_ROUTE_NAMES.filter((name) => restRoute(name).events.length > 0))('REST-3 %s', (name) => {
  const route = restRoute(name);
  const needed = route.events.map((event) => CLIENT_EVENTS[event].role).find((role) => role !== 'user');
  const body =
    name === 'createRun' ? { kind: 'command', command: 'true' } : name === 'createProject' ? { path: 'x' } : {};

  async function pathFor(): Promise<{ path: string; projectId: string }> {
    const { project_id } = await project();
    const run = name === 'getRunOutput' ? await command(project_id) : await prompt(project_id);
    const path = route.path
      .replace('{project_id}', project_id)
      .replace('{run_id}', run.run_id)
      .replace('{session_id}', run.session_id ?? '');
    return { path, projectId: project_id };
  }
  const asked = route.body === undefined ? {} : { body };

  it('REST-3 takes a valid token, in the header only', async () => {
    const { path } = await pathFor();
    const bare = new RestClient(gateway, null);
    const missing = await bare.ask(route.method, path, asked);
    expect([missing.status, (missing.body as Json).code]).toEqual([401, 'auth.token_missing']);
    expect(missing.headers.get('www-authenticate')).toBe('Bearer realm="gantry"');
    const wrong = await bare.ask(route.method, path, { ...asked, token: 'gnt_wrong' });
    expect([wrong.status, (wrong.body as Json).code]).toEqual([401, 'auth.token_invalid']);
    expect(wrong.headers.get('www-authenticate')).toContain('invalid_token');
    expect(await bare.refusal(route.method, `${path}?access_token=x`, asked)).toEqual([401, 'auth.token_missing']);
    expect(await admin.refusal(route.method, `${path}?access_token=x`, asked)).toEqual([
      400,
      'request.invalid_payload',
    ]);
  });

  it('REST-3 is refused to pages of other origins', async () => {
    const { path } = await pathFor();
    const headers = { origin: 'https://elsewhere.example' };
    expect(await admin.refusal(route.method, path, { ...asked, headers })).toEqual([403, 'auth.origin_refused']);
  });

  if (needed !== undefined) {
    it('REST-3 takes the role of its events, and shows nothing to strangers', async () => {
      const { path, projectId } = await pathFor();
      const stranger = new RestClient(gateway, (await fixture.user()).token);
      expect((await stranger.ask(route.method, path, asked)).status).toBe(404);
      for (const role of ['viewer', 'editor'] as const) {
        const { token } = await fixture.user({ projectId, role });
        const { status } = await new RestClient(gateway, token).ask(route.method, path, asked);
        const suffices = needed === 'viewer' || needed === role;
        expect([role, status === 403]).toEqual([role, !suffices]);
      }
    });
  }
});

it('REST-4 says 404, 405, 413 and 415 as HTTP does', async () => {
  const { project_id } = await project();
  const path = `/projects/${project_id}`;
  expect(await admin.refusal('GET', '/nothing')).toEqual([404, 'request.unknown_route']);
  expect(await admin.refusal('GET', `/runs/${newId()}`)).toEqual([404, 'run.not_found']);
  expect(await admin.refusal('GET', '/runs/not-an-id')).toEqual([400, 'request.invalid_payload']);
  const put = await admin.ask('PUT', path, { body: {} });
  expect([put.status, (put.body as Json).code, put.headers.get('allow')]).toEqual([
    405,
    'request.method_not_allowed',
    'GET, PATCH, DELETE, HEAD, OPTIONS',
  ]);
  const options = await admin.ask('OPTIONS', path);
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, PATCH, DELETE, HEAD, OPTIONS']);
  const patch = (body: string, headers: Record<string, string> = {}) => admin.refusal('PATCH', path, { body, headers });
  expect(await patch('{}', { 'content-type': 'text/plain' })).toEqual([415, 'request.unsupported_media_type']);
  expect(await patch('{}', { 'content-encoding': 'gzip' })).toEqual([415, 'request.unsupported_media_type']);
  expect(await patch('{"name": ')).toEqual([400, 'request.invalid_payload']);
  expect(await patch('[]')).toEqual([400, 'request.invalid_payload']);
  expect(await patch('{"surprise": 1}')).toEqual([400, 'request.invalid_payload']);
  expect(await patch(`{"project_id": "${newId()}"}`)).toEqual([400, 'request.invalid_payload']);
  expect(await patch(JSON.stringify({ name: 'x'.repeat(1024 * 1024) }))).toEqual([413, 'request.too_large']);
  expect(await admin.refusal('GET', `${path}/runs?limit=1&limit=2`)).toEqual([400, 'request.invalid_payload']);
  expect(await admin.refusal('GET', `${path}/runs?limit=1e1`)).toEqual([400, 'request.invalid_payload']);
});

it('REST-4 refuses a body that grows beyond the limit without having said so', async () => {
  const { project_id } = await project();
  const response = await fetch(`${gateway.url}/api/v1/projects/${project_id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: new ReadableStream({
      start(controller) {
        for (let part = 0; part < 40; part += 1) controller.enqueue(Buffer.alloc(64 * 1024, 0x20));
        controller.close();
      },
    }),
    duplex: 'half',
  });
  expect([response.status, ((await response.json()) as Json).code]).toEqual([413, 'request.too_large']);
});

it('REST-5 gives every answer a correlation id that the log has, and logs neither addresses nor bodies', async () => {
  const { project_id } = await project();
  const secret = `secret-${newId()}`;
  const good = await admin.ask('GET', `/projects/${project_id}`);
  const bad = await admin.ask('PATCH', `/projects/${project_id}?x=${secret}`, {
    body: { name: secret, extra: secret },
  });
  const problem = bad.body as Json;
  expect(bad.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(problem['correlation_id']).toBe(bad.headers.get('x-correlation-id'));
  const line = (answer: { headers: Headers }) =>
    gateway.log.find(
      (each) => each['msg'] === 'request' && each['correlation_id'] === answer.headers.get('x-correlation-id'),
    );
  expect(line(good)).toMatchObject({ route: 'getProject', method: 'GET', status: 200, code: 'ok', project_id });
  expect(line(bad)).toMatchObject({ status: 400, code: 'request.invalid_payload' });
  expect(JSON.stringify(gateway.log)).not.toContain(secret);
});

/** `fetch` asks for a fresh answer by itself whenever it is given an ETag. */
async function statusFor(path: string, etag: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'if-none-match': etag };
  const [response] = (await once(get(`${gateway.url}/api/v1${path}`, { headers }), 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

it('REST-6 answers HEAD, and says with 304 that nothing has changed', async () => {
  const { project_id } = await project();
  const path = `/projects/${project_id}`;
  const { headers } = await admin.ask('GET', path);
  const etag = headers.get('etag') ?? '';
  expect(etag).not.toBe('');
  expect(await statusFor(path, etag)).toBe(304);
  await admin.json('PATCH', path, { body: { name: 'changed' } });
  expect(await statusFor(path, etag)).toBe(200);
  const head = await admin.ask('HEAD', path);
  expect([head.status, head.body, head.headers.get('content-type')]).toEqual([
    200,
    '',
    expect.stringMatching(/^application\/json/),
  ]);
});

it('REST-1 takes new fields of an event as they come: a busy project is refused, and nothing is stored', async () => {
  const { project_id } = await project();
  const first = await prompt(project_id);
  const { status, body } = await admin.ask('POST', `/projects/${project_id}/runs`, {
    body: { kind: 'prompt', prompt: 'y', if_busy: 'reject' },
  });
  expect([status, (body as Json).code, (body as Json).details?.['blocker']]).toEqual([
    409,
    'session.locked',
    expect.objectContaining({ run_id: first.run_id }),
  ]);
  const { runs } = await admin.json<{ runs: RunInfo[] }>('GET', `/projects/${project_id}/runs`);
  expect(runs).toHaveLength(1);
});
