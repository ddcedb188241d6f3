// Conversations and the steering of runs, as clients ask for them.
import { newId } from '#kernel';
import { PgRunControl } from '#persistence';
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

const intentsOf = async (runId: string) =>
  (await fixture.host.execution.openIntents([runId])).map(({ kind, payload }) => [kind, payload]);

it('SES-5 makes a conversation once per idempotency_key, which the next prompt continues and gives its title', async () => {
  const { project_id } = await fixture.project(client);
  const request = { project_id, model: 'opus', permission_mode: 'plan' as const, idempotency_key: newId() };
  const session = await client.call('session_create', request);
  expect(session).toMatchObject({ status: 'created', model: 'opus', permission_mode: 'plan', cost_usd: 0 });
  expect(session.title).toBeUndefined();
  expect((await client.call('session_create', request)).session_id).toBe(session.session_id);
  expect(await client.refusal('session_create', { ...request, model: 'haiku' })).toMatchObject({
    code: 'request.idempotency_mismatch',
  });
  const run = await client.call('execute', { project_id, prompt: 'Count the stars\nall of them' });
  expect(run.session_id).toBe(session.session_id);
  expect(await client.call('session_get', { session_id: session.session_id })).toMatchObject({
    title: 'Count the stars',
  });
});

it('SES-5 never replaces a title that a person gave', async () => {
  const { project_id } = await fixture.project(client);
  const { session_id } = await client.call('session_create', { project_id, title: 'Mine' });
  await client.call('execute', { project_id, prompt: 'another' });
  expect(await client.call('session_get', { session_id })).toMatchObject({ title: 'Mine' });
  expect(await client.call('session_update', { session_id, title: 'Still mine' })).toMatchObject({
    title: 'Still mine',
  });
  const { events } = await client.call('project_join', { project_id });
  expect(events.filter(({ type }) => type === 'session.updated').at(-1)?.payload).toMatchObject({
    session_id,
    title: 'Still mine',
  });
});

it('SES-4 asks the worker to tell a running turn of another model, and only then', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id, session_id } = await client.call('execute', { project_id, prompt: 'one' });
  await fixture.host.claim(run_id);
  await client.call('session_update', { session_id, model: 'haiku', permission_mode: null });
  await client.call('session_update', { session_id, title: 'no matter to the agent' });
  expect(await intentsOf(run_id)).toEqual([['setting', { model: 'haiku', permission_mode: null }]]);
});

it('SES-6 makes an earlier conversation the current one, and archives one for good', async () => {
  const { project_id } = await fixture.project(client);
  const first = await client.call('session_create', { project_id, title: 'first' });
  const second = await client.call('session_create', { project_id, title: 'second' });
  expect((await client.call('project_get', { project_id })).session_id).toBe(second.session_id);
  const session_id = first.session_id;
  expect(await client.call('session_resume', { session_id })).toMatchObject({ session_id, status: 'created' });
  expect((await client.call('project_get', { project_id })).session_id).toBe(session_id);

  const { run_id } = await client.call('execute', { project_id, prompt: 'busy' });
  const refusal = await client.refusal('session_archive', { session_id });
  expect(refusal).toMatchObject({
    code: 'session.locked',
    details: { blocker: { run_id, kind: 'prompt', status: 'dispatched', title: 'busy' } },
  });
  const run = await fixture.host.claim(run_id);
  expect(await client.call('session_get', { session_id })).toMatchObject({ status: 'starting' });
  await fixture.host.finish(run);
  expect(await client.call('session_archive', { session_id })).toMatchObject({ status: 'archived' });
  expect(await client.call('session_archive', { session_id })).toMatchObject({ status: 'archived' });
  for (const event of ['session_resume', 'session_update'] as const) {
    expect(await client.refusal(event, { session_id })).toMatchObject({ code: 'session.archived' });
  }
  expect((await client.call('project_get', { project_id })).session_id).toBeUndefined();
  const next = await client.call('execute', { project_id, prompt: 'anew' });
  expect(next.session_id).not.toBe(session_id);
});

it('SES-6 lists recent conversations over all projects, with status, title, cost and last run', async () => {
  const [one, two] = [await fixture.project(client), await fixture.project(client)];
  const older = await client.call('session_create', { project_id: one.project_id, title: 'older' });
  const newer = await client.call('execute', { project_id: two.project_id, prompt: 'newer' });
  await fixture.host.finish(await fixture.host.claim(newer.run_id));
  const { sessions } = await client.call('session_list', { limit: 2 });
  expect(sessions).toMatchObject([
    { session_id: newer.session_id, title: 'newer', status: 'completed', cost_usd: 0 },
    { session_id: older.session_id, title: 'older', status: 'created' },
  ]);
  expect(sessions[0]?.last_run_at).toBeDefined();
});

it('SES-2, SES-3 stores what is asked of a run once, and takes a pause back', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'one' });
  await fixture.host.claim(run_id);
  expect(await client.refusal('run_resume', { run_id })).toMatchObject({ code: 'run.not_active' });
  for (let again = 0; again < 2; again += 1) {
    await client.call('run_interrupt', { run_id });
    await client.call('run_pause', { run_id });
  }
  expect((await intentsOf(run_id)).map(([kind]) => kind)).toEqual(['interrupt', 'pause']);
  await client.call('run_resume', { run_id });
  expect((await intentsOf(run_id)).map(([kind]) => kind)).toEqual(['interrupt', 'resume']);
});

it('SES-9 takes input as text or base64, and refuses what is neither', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute_command', { project_id, command: 'cat', stdin: 'pipe' });
  expect(await client.call('run_input', { run_id, input_seq: 1, data: 'äöü' })).toEqual({
    run_id,
    input_seq: 1,
    duplicate: false,
  });
  await client.call('run_input', { run_id, input_seq: 2, data: 'AAH/', encoding: 'base64', eof: true });
  expect(await client.call('run_input', { run_id, input_seq: 2, data: 'AAH/' })).toMatchObject({ duplicate: true });
  const control = new PgRunControl(fixture.database.db);
  const pieces = await control.waitingInput(run_id);
  expect(pieces.map(({ data, eof }) => [Buffer.from(data).toString('hex'), eof])).toEqual([
    [Buffer.from('äöü').toString('hex'), false],
    ['0001ff', true],
  ]);
  const bad = { run_id, input_seq: 3, data: 'not base64!', encoding: 'base64' as const };
  expect(await client.refusal('run_input', bad)).toMatchObject({ code: 'request.invalid_payload' });
});

it('SES-3 lets no answer start a run that a person holds still, and asks again when it goes on', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id, session_id } = await client.call('execute', { project_id, prompt: 'one' });
  const run = await fixture.host.claim(run_id);
  const fence = { runId: run_id, projectId: project_id, runEpoch: run.epoch };
  const control = new PgRunControl(fixture.database.db);
  const { processId } = await fixture.host.startProcess(run);
  const ask = (toolUseId: string) =>
    fixture.host.execution.openPermission({
      ...fence,
      requestId: newId(),
      processId,
      toolUseId,
      toolName: 'Bash',
      input: {},
      inputHash: 'h',
      suggestions: [],
    });
  const statusOf = async () => (await client.call('run_get', { run_id })).status;
  const pause = async () => {
    await client.call('run_pause', { run_id });
    await control.pauseRun(fence, String(await intentIdOf(run_id)), 1);
  };
  await pause();
  expect(await client.call('session_get', { session_id })).toMatchObject({ status: 'paused' });
  const { result: first } = await ask('one');
  expect(await statusOf()).toBe('paused');
  await client.call('permission_respond', { request_id: first.requestId, input_hash: 'h', behavior: 'allow' });
  expect((await fixture.host.execution.resumeRun(fence)).result).toBe(false);
  expect([await statusOf(), await fixture.host.execution.isParked(run_id)]).toEqual(['paused', true]);
  expect((await control.continueRun(fence)).result.status).toBe('running');
  expect((await fixture.host.execution.resumeRun(fence)).result).toBe(true);

  await pause();
  await ask('two');
  expect((await control.continueRun(fence)).result).toMatchObject({ status: 'waiting', waitReason: 'permission' });
});

it('SES-7 applies nothing for a worker whose run was taken over', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'one' });
  const old = await fixture.host.claim(run_id);
  await client.call('run_pause', { run_id });
  const run = await fixture.host.claim(run_id);
  const control = new PgRunControl(fixture.database.db);
  const stale = { runId: run_id, projectId: project_id, runEpoch: old.epoch };
  const intentId = String(await intentIdOf(run_id));
  for (const write of [
    control.applyIntent(stale, intentId),
    control.pauseRun(stale, intentId, 1),
    control.continueRun(stale, intentId),
  ]) {
    await expect(write).rejects.toMatchObject({ code: 'write.fenced' });
  }
  const fence = { ...stale, runEpoch: run.epoch };
  expect((await control.pauseRun(fence, intentId, 5)).result).toBe(true);
  expect(await client.call('run_get', { run_id })).toMatchObject({ status: 'paused' });
  expect((await control.pauseRun(fence, intentId, 5)).result).toBe(true);
  expect((await control.continueRun(fence)).result.status).toBe('running');
});

const intentIdOf = async (runId: string): Promise<string | undefined> =>
  (await fixture.host.execution.openIntents([runId])).find(({ kind }) => kind === 'pause')?.intentId;
