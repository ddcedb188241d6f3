// Projects: where they may lie, that they are made once, and how they go.
import { access, mkdir, writeFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#kernel';
import type { SocketClient } from '#testing';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  client = await fixture.client(gateway);
});
afterAll(() => fixture.close());

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

it('GW-15 makes the folder and names the project after it', async () => {
  const path = join(fixture.root, 'made', 'by us');
  const project = await client.call('project_create', { path: `${path}/`, options: { model: 'sonnet' } });
  expect(project).toMatchObject({ path, name: 'by us', state: 'IDLE', message_count: 0, options: { model: 'sonnet' } });
  expect(await exists(path)).toBe(true);
});

it.each([
  ['relative/path', 'project.path_relative'],
  ['', 'request.invalid_payload'],
  ['ROOT/NUL', 'project.path_nul'],
  ['ROOT/a/../../../etc', 'project.path_traversal'],
  ['ROOT/./a', 'project.path_traversal'],
  ['/etc', 'project.path_outside_roots'],
  ['ROOT', 'project.path_outside_roots'],
  ['ROOT-beside', 'project.path_outside_roots'],
  ['ROOT/LONG', 'request.invalid_payload'],
])('GW-15 refuses %p with %s', async (path, code) => {
  expect(
    await client.refusal('project_create', {
      path: path.replace('ROOT', fixture.root).replace('NUL', '\0').replace('LONG', 'a'.repeat(5000)),
    }),
  ).toMatchObject({ code });
});

it.each(['a\u001bb', 'a\nb', 'a\u0085b', 'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u2028b'])(
  'GW-54 refuses %j in the path and the name of a project, by the field',
  async (text) => {
    const path = join(fixture.root, newId());
    const refusedAt = (field: string) => ({
      code: 'request.invalid_payload',
      details: { fields: [{ path: field, message: 'must not contain control characters or ones that turn text' }] },
    });
    expect(await client.refusal('project_create', { path: `${path}${text}` })).toMatchObject(refusedAt('path'));
    expect(await client.refusal('project_create', { path, name: text })).toMatchObject(refusedAt('name'));
    expect(await exists(path)).toBe(false);
    const { project_id } = await fixture.project(client);
    expect(await client.refusal('project_update', { project_id, name: text })).toMatchObject(refusedAt('name'));
  },
);

it('GW-54 takes names of any language, and refuses a folder that a link shows under another name', async () => {
  const name = 'größer 日本語 नमस्ते مرحبا 👩‍💻';
  const path = join(fixture.root, name);
  expect(await client.call('project_create', { path })).toMatchObject({ name, path });
  const real = join(fixture.root, 'real\u202ename');
  await mkdir(real);
  const link = join(fixture.root, newId());
  await symlink(real, link);
  expect(await client.refusal('project_create', { path: link })).toMatchObject({ code: 'request.invalid_payload' });
});

it('GW-15 refuses a file, a folder taken, and nesting in either direction', async () => {
  const file = join(fixture.root, 'a-file');
  await writeFile(file, '');
  expect(await client.refusal('project_create', { path: file })).toMatchObject({ code: 'project.path_not_directory' });
  const outer = join(fixture.root, 'outer', 'middle');
  await client.call('project_create', { path: outer });
  const refused = async (path: string) => (await client.refusal('project_create', { path })).code;
  expect(await refused(outer)).toBe('project.path_taken');
  expect(await refused(join(outer, 'inner'))).toBe('project.path_nested');
  expect(await refused(join(fixture.root, 'outer'))).toBe('project.path_nested');
});

it('GW-15 makes no folder for a project that is refused', async () => {
  const outer = join(fixture.root, newId());
  await client.call('project_create', { path: outer });
  await client.refusal('project_create', { path: join(outer, 'inner') });
  await client.refusal('project_create', { path: join(outer, 'inner'), idempotency_key: newId() });
  expect(await exists(join(outer, 'inner'))).toBe(false);
});

it('GW-15 follows a link to what it really is, so that nothing nests by a detour', async () => {
  const real = join(fixture.root, newId());
  await client.call('project_create', { path: real });
  await mkdir(join(real, 'sub'));
  const link = join(fixture.root, newId());
  await symlink(join(real, 'sub'), link);
  expect(await client.refusal('project_create', { path: link })).toMatchObject({ code: 'project.path_nested' });
});

it('GW-5, GW-15 says host.unavailable when none is held, and knows its roots all the same', async () => {
  const other = await GatewayFixture.create();
  try {
    const running = await other.gateway();
    const admin = await other.client(running);
    const leaseOf = (until: Date) =>
      other.database.db.run(({ host }) => host.updateMany({ data: { leaseUntil: until } }));
    await leaseOf(new Date(0));
    expect(await admin.refusal('project_create', { path: join(other.root, 'x') })).toMatchObject({
      code: 'host.unavailable',
      retryable: true,
    });
    expect(await admin.refusal('project_create', { path: 'x' })).toMatchObject({ code: 'project.path_relative' });
    expect(await admin.refusal('project_create', { path: '/elsewhere/x' })).toMatchObject({
      code: 'project.path_outside_roots',
    });
    expect((await other.client(running)).hello.project_roots).toEqual([other.root]);
    await leaseOf(new Date(Date.now() + 3_600_000));
    expect((await other.client(running)).hello.project_roots).toEqual([other.root]);
  } finally {
    await other.close();
  }
});

it('GW-16 creates once per idempotency_key and refuses another payload under it', async () => {
  const other = await fixture.client(gateway);
  for (let round = 0; round < 10; round += 1) {
    const path = join(fixture.root, newId());
    const idempotency_key = newId();
    const [one, two] = await Promise.all([
      client.call('project_create', { path, name: 'n', idempotency_key }),
      other.call('project_create', { idempotency_key, name: 'n', path }),
    ]);
    expect(two.project_id).toBe(one.project_id);
    expect(await client.refusal('project_create', { path, name: 'other', idempotency_key })).toMatchObject({
      code: 'request.idempotency_mismatch',
      kind: 'conflict',
    });
  }
});

it('GW-19 refuses a default timeout above the limit', async () => {
  const options = { timeout_ms: 3_600_001 };
  const expected = { code: 'request.invalid_payload', details: { fields: [{ path: 'options.timeout_ms' }] } };
  expect(await client.refusal('project_create', { path: join(fixture.root, 'x'), options })).toMatchObject(expected);
  const { project_id } = await fixture.project(client);
  expect(await client.refusal('project_update', { project_id, options })).toMatchObject(expected);
});

it('GW-24 tells watchers of a change', async () => {
  const { project_id } = await fixture.project(client);
  const watcher = await fixture.client(gateway);
  await watcher.call('project_join', { project_id });
  const updated = await client.call('project_update', { project_id, name: 'new name', options: { max_turns: 3 } });
  expect(updated).toMatchObject({ name: 'new name', options: { max_turns: 3 } });
  expect(await watcher.waitFor('event')).toMatchObject({ type: 'project.updated', payload: { name: 'new name' } });
});

it('GW-17 refuses to delete a project that works, and deletes an idle one for everybody', async () => {
  const { project_id, path } = await fixture.project(client);
  const watcher = await fixture.client(gateway);
  await watcher.call('project_join', { project_id });
  const first = await client.call('execute', { project_id, prompt: 'one' });
  const second = await client.call('execute', { project_id, prompt: 'two' });
  expect(await client.refusal('project_delete', { project_id })).toMatchObject({ code: 'project.busy' });
  await fixture.host.claim(first.run_id);
  await client.call('run_cancel', { run_id: second.run_id });
  expect(await client.refusal('project_delete', { project_id })).toMatchObject({ code: 'project.busy' });
  const run = await fixture.host.runs.find(first.run_id);
  await fixture.host.finish(run!);
  expect(await client.call('project_delete', { project_id })).toEqual({ project_id, success: true });

  expect(await watcher.waitFor('event', ({ type }) => type === 'project.deleted')).toMatchObject({ project_id });
  expect(await watcher.refusal('project_join', { project_id })).toMatchObject({ code: 'project.not_found' });
  expect(await client.refusal('project_delete', { project_id })).toMatchObject({ code: 'project.not_found' });
  const { projects } = await client.call('project_list', {});
  expect(projects.map((project) => project.project_id)).not.toContain(project_id);
  expect(await exists(path)).toBe(true);
  expect((await client.call('project_create', { path })).project_id).not.toBe(project_id);
});

it('GW-17 deletes also when the host cannot be asked or fails', async () => {
  const { project_id } = await fixture.project(client);
  fixture.host.handlers['project.remove'] = async () => {
    throw new Error('the container does not stop');
  };
  expect((await client.call('project_delete', { project_id })).success).toBe(true);
  fixture.host.handlers = {};
  expect(await client.refusal('project_join', { project_id })).toMatchObject({ code: 'project.not_found' });
});

it('GW-27 pushes nothing after project_leave', async () => {
  const { project_id } = await fixture.project(client);
  const watcher = await fixture.client(gateway);
  await watcher.call('project_join', { project_id });
  await watcher.call('project_leave', { project_id });
  await client.call('project_update', { project_id, name: 'unheard' });
  await watcher.call('project_join', { project_id });
  await client.call('project_update', { project_id, name: 'heard' });
  await watcher.waitFor('event', ({ payload }) => payload['name'] === 'heard');
  expect(watcher.all('event').map(({ payload }) => payload['name'])).toEqual(['heard']);
  expect((await watcher.call('project_leave', { project_id })) satisfies object).toEqual({});
});

it('GW-38 lists projects page by page, the last active first', async () => {
  const owner = await fixture.client(gateway, await fixture.user());
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) made.unshift((await fixture.project(owner)).project_id);
  const listed: string[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await owner.call('project_list', { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    listed.push(...page.projects.map((project) => project.project_id));
    cursor = page.next_cursor;
  }
  expect(listed).toEqual(made);
  expect(await owner.refusal('project_list', { cursor: 'nonsense' })).toMatchObject({
    code: 'request.invalid_payload',
  });
});
