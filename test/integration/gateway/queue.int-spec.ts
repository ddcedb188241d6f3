// Changing a queue over the wire: what clients send, what they are answered and what all of them see.
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

/** A joined project with one command dispatched, and these queued. */
async function busy(...commands: string[]): Promise<{ project_id: string; active: string; ids: string[] }> {
  const { project_id } = await fixture.project(client);
  await client.call('project_join', { project_id });
  const { run_id: active } = await client.call('execute_command', { project_id, command: 'active' });
  const ids = [];
  for (const command of commands) ids.push((await client.call('execute_command', { project_id, command })).run_id);
  return { project_id, active, ids };
}

const shown = (projectId: string, titles: string[]) =>
  client.waitFor('queue_changed', ({ project_id: id, lanes }) => {
    const queued = lanes.find(({ lane }) => lane === 'main')?.queued ?? [];
    return id === projectId && JSON.stringify(queued.map(({ title }) => title)) === JSON.stringify(titles);
  });

it('QUE-2 answers run_update with the run, and shows everyone the new text', async () => {
  const { project_id, active } = await busy();
  const { run_id } = await client.call('execute', { project_id, prompt: 'draft' });
  const edited = await client.call('run_update', { run_id, prompt: 'final', options: { max_turns: 3 } });
  expect(edited).toMatchObject({ run_id, title: 'final', position: 0, status: 'queued' });
  await shown(project_id, ['final']);
  const told = await client.waitFor('event', (event) => event.run_id === run_id && event.type === 'run.updated');
  expect(told.payload).toMatchObject({ text: 'final', user_name: 'admin', options_changed: true });
  expect(await fixture.host.runs.find(run_id)).toMatchObject({ prompt: 'final', options: { max_turns: 3 } });
  expect((await client.refusal('run_update', { run_id })).code).toBe('request.invalid_payload');
  expect((await client.refusal('run_update', { run_id, prompt: '' })).code).toBe('request.invalid_payload');
  expect(await client.refusal('run_update', { run_id: active, prompt: 'x' })).toMatchObject({
    code: 'run.not_queued',
    details: { status: 'dispatched' },
  });
});

it('QUE-4, QUE-5, QUE-6 moves runs, and lets one go next', async () => {
  const { project_id, active, ids } = await busy('a', 'b', 'c');
  const [a = '', , c = ''] = ids;
  expect(await client.call('run_move', { run_id: c, before_run_id: a })).toMatchObject({ run_id: c, position: 0 });
  await shown(project_id, ['c', 'a', 'b']);
  expect(await client.call('run_move', { run_id: c })).toMatchObject({ position: 2 });
  await shown(project_id, ['a', 'b', 'c']);
  const next = await client.call('execute_command', { project_id, command: 'next', priority: 'next' });
  expect(next).toMatchObject({ status: 'queued', position: 0 });
  await shown(project_id, ['next', 'a', 'b', 'c']);
  expect((await client.refusal('run_move', { run_id: a, before_run_id: active })).code).toBe('run.not_queued');
});

it('QUE-8 refuses with what is in the way, and takes the same request when nothing is', async () => {
  const { project_id, active } = await busy();
  const request = { project_id, prompt: 'only now', if_busy: 'reject' as const, idempotency_key: 'only-now' };
  expect(await client.refusal('execute', request)).toMatchObject({
    code: 'session.locked',
    details: {
      blocker: {
        run_id: active,
        kind: 'command',
        title: 'active',
        status: 'dispatched',
        started_by: { name: 'admin' },
      },
    },
  });
  const command = { project_id, command: 'x', if_busy: 'reject' as const };
  expect((await client.refusal('execute_command', command)).code).toBe('session.locked');
  expect((await client.call('execute_command', { ...command, parallel: true })).status).toBe('dispatched');
  const idle = await fixture.project(client);
  const taken = await client.call('execute', { ...request, project_id: idle.project_id, idempotency_key: 'idle' });
  expect(taken.status).toBe('dispatched');
});

it('QUE-9, QUE-10 pauses a lane for everyone, also for clients of another gateway', async () => {
  const { project_id } = await busy('a');
  const elsewhere = await fixture.client(await fixture.gateway());
  await elsewhere.call('project_join', { project_id });
  const lane = await client.call('lane_pause', { project_id });
  expect(lane).toMatchObject({ lane: 'main', paused: { by: expect.any(String) as string }, queued_count: 1 });
  expect(await client.call('lane_pause', { project_id, lane: 'main' })).toEqual(lane);
  const seen = await elsewhere.waitFor('queue_changed', ({ lanes }) =>
    lanes.some(({ paused }) => paused !== undefined),
  );
  expect(seen.lanes[0]?.paused).toEqual(lane.paused);
  const later = await fixture.client(gateway);
  const { queue } = await later.call('project_join', { project_id });
  expect(queue.lanes[0]?.paused).toEqual(lane.paused);
  expect((await client.call('lane_resume', { project_id })).paused).toBeUndefined();
});

it('QUE-1 merges settings and shows them', async () => {
  const { project_id } = await fixture.project(client);
  const settings = { park_after_ms: 300, permission_policy: { mode: 'ask' as const, deny: [{ tool: 'Bash' }] } };
  expect((await client.call('project_update', { project_id, settings })).settings).toEqual(settings);
  const less = await client.call('project_update', { project_id, settings: { permission_policy: null } });
  expect(less.settings).toEqual({ park_after_ms: 300 });
  expect((await client.call('project_get', { project_id })).settings).toEqual({ park_after_ms: 300 });
  expect((await client.refusal('project_update', { project_id, settings: { park_after_ms: -1 } })).code).toBe(
    'request.invalid_payload',
  );
});

it('QUE-13 shows a queue whose word was lost, though no event came with it', async () => {
  const { project_id, ids } = await busy('a', 'b');
  const [, b = ''] = ids;
  // Changed behind the back of every gateway: nothing is announced.
  await fixture.database.db.transaction(async (tx) => {
    await tx.run.update({ where: { id: b }, data: { position: 0 } });
    await tx.projectHead.update({ where: { projectId: project_id }, data: { queueRevision: { increment: 1 } } });
  });
  await shown(project_id, ['b', 'a']);
});
