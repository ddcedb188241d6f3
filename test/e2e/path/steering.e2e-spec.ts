// Steering over the wire, as two clients see it: the real CLI in its container, a worker that is killed in the middle.
import { SocketClient } from '#testing';
import { type PathFixture, startPath, TURN_MS } from './path-fixture.js';

let path: PathFixture;
let viewer: SocketClient;
beforeAll(async () => {
  path = await startPath();
  viewer = await SocketClient.connect(path.stack.url, { token: path.stack.adminToken, clientId: 'viewer' });
}, TURN_MS);
afterAll(async () => {
  viewer.close();
  await path.close();
}, TURN_MS);

const updated = (runId: string, status: string) =>
  viewer.waitFor(
    'event',
    ({ run_id, type, payload }) => run_id === runId && type === 'run.updated' && payload['status'] === status,
    TURN_MS,
  );

it(
  'SES-2, SES-3 pauses, resumes and interrupts a turn over a change of workers, and every viewer sees it',
  async () => {
    const projectId = await path.project();
    await viewer.call('project_join', { project_id: projectId });
    await path.answer(projectId, 'demo:remember the green door');
    const { run_id: runId, session_id: sessionId } = await path.prompt(projectId, 'demo:slow 3000 20');
    await path.client.waitFor('delta', (delta) => delta.run_id === runId, TURN_MS);
    expect(await path.client.call('run_pause', { run_id: runId })).toMatchObject({ run_id: runId });
    await updated(runId, 'paused');
    expect(await viewer.call('session_get', { session_id: sessionId })).toMatchObject({ status: 'paused' });
    const { queue } = await viewer.call('project_join', { project_id: projectId });
    expect(queue.lanes[0]?.active).toMatchObject({ run_id: runId, status: 'paused' });
    await path.stack.service('worker').kill('SIGKILL');
    await path.stack.start('worker');
    expect(await viewer.call('run_get', { run_id: runId })).toMatchObject({ status: 'paused' });
    await path.client.call('run_resume', { run_id: runId });
    await updated(runId, 'running');
    await path.client.call('run_interrupt', { run_id: runId });
    expect((await path.finished(runId)).payload).toMatchObject({
      status: 'interrupted',
      error: { code: 'run.interrupted' },
    });
    expect(await path.answer(projectId, 'demo:recall')).toContain('the green door');
  },
  TURN_MS * 2,
);

it(
  'SES-4, SES-5, SES-6, SES-8 makes, changes, compacts and archives a conversation',
  async () => {
    const projectId = await path.project();
    const session = await path.client.call('session_create', { project_id: projectId, model: 'sonnet' });
    const said = JSON.parse(await path.answer(projectId, 'demo:echo')) as { model: string };
    expect(said.model).toMatch(/sonnet/);
    const session_id = session.session_id;
    expect(await path.client.call('session_get', { session_id })).toMatchObject({
      title: 'demo:echo',
      status: 'completed',
    });
    await path.answer(projectId, 'demo:remember the red hat');
    const { run_id: compaction } = await path.client.call('session_compact', { session_id });
    expect((await path.finished(compaction)).payload).toMatchObject({ kind: 'compact', status: 'succeeded' });
    expect(path.eventsOf(compaction).find(({ type }) => type === 'session.compacted')?.payload).toMatchObject({
      session_id,
      trigger: 'manual',
    });
    await path.client.call('session_update', { session_id, model: null, title: 'Hats' });
    expect(await path.answer(projectId, 'demo:recall')).toContain('the red hat');
    expect(await path.client.call('session_archive', { session_id })).toMatchObject({
      status: 'archived',
      title: 'Hats',
    });
    expect(await path.client.refusal('session_resume', { session_id })).toMatchObject({ code: 'session.archived' });
  },
  TURN_MS * 2,
);

it(
  'SES-9 types to a program that reads',
  async () => {
    const projectId = await path.project();
    const command = 'read name; echo "hello $name"';
    const { run_id, command_session_id } = await path.client.call('execute_command', {
      project_id: projectId,
      command,
      stdin: 'pipe',
    });
    await path.client.call('run_input', { run_id, input_seq: 1, data: 'wörld\n' });
    expect((await path.finished(run_id)).payload).toMatchObject({ status: 'succeeded' });
    expect(await path.client.call('get_command_output', { command_session_id })).toMatchObject({
      output: 'hello wörld\n',
    });
  },
  TURN_MS,
);
