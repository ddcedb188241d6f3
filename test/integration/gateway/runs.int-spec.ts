// Prompts and commands: how they are stored, queued and stopped.
import { newId } from '#kernel';
import type { SocketClient } from '#testing';
import { eventually } from './eventually.js';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({ env: { GANTRY_RUN_TIMEOUT_MS: '60000', GANTRY_RUN_TIMEOUT_MAX_MS: '120000' } });
  client = await fixture.client(gateway);
});
afterAll(() => fixture.close());

const stored = async (runId: string) => {
  const run = await fixture.host.runs.find(runId);
  if (run === undefined) throw new Error('the run was not stored');
  return run;
};

it('GW-16 stores a prompt once per idempotency_key, whoever repeats it, and refuses another payload', async () => {
  const { project_id } = await fixture.project(client);
  const idempotency_key = newId();
  const payload = { project_id, prompt: 'once', options: { model: 'opus', max_turns: 2 }, idempotency_key };
  const first = await client.call('execute', payload);
  const again = await (
    await fixture.client(gateway)
  ).call('execute', { idempotency_key, options: { max_turns: 2, model: 'opus' }, prompt: 'once', project_id });
  expect(again.run_id).toBe(first.run_id);
  expect(await client.refusal('execute', { ...payload, prompt: 'twice' })).toMatchObject({
    code: 'request.idempotency_mismatch',
  });
  expect((await client.call('run_list', { project_id })).runs).toHaveLength(1);
  // Another event has keys of its own.
  const command = { project_id, command: 'true', idempotency_key };
  const run = await client.call('execute_command', command);
  expect((await client.call('execute_command', command)).run_id).toBe(run.run_id);
});

it('GW-52 keeps a key for as long as it is set to, and then purges it', async () => {
  const { project_id } = await fixture.project(client);
  const brief = await fixture.client(
    await fixture.gateway({ env: { GANTRY_IDEMPOTENCY_TTL_MS: '60000' }, tuning: { purgeKeysMs: 3_600_000 } }),
  );
  const long = await fixture.client(
    await fixture.gateway({ env: { GANTRY_IDEMPOTENCY_TTL_MS: '172800000' }, tuning: { purgeKeysMs: 3_600_000 } }),
  );
  const key = newId();
  const age = (hours: number) =>
    fixture.database.db.run(({ idempotency }) =>
      idempotency.updateMany({ where: { key }, data: { createdAt: new Date(Date.now() - hours * 3_600_000) } }),
    );
  const payload = { project_id, prompt: 'for a while', idempotency_key: key };
  const first = await long.call('execute', payload);
  await age(47);
  expect((await long.call('execute', payload)).run_id).toBe(first.run_id);
  const second = await brief.call('execute', payload);
  expect(second.run_id).not.toBe(first.run_id);

  const kept = () => fixture.database.db.run(({ idempotency }) => idempotency.count({ where: { key } }));
  await age(1);
  const purging = await fixture.gateway({ env: { GANTRY_IDEMPOTENCY_TTL_MS: '60000' }, tuning: { purgeKeysMs: 20 } });
  await eventually(kept, (count) => count === 0);
  await purging.app.close();
});

it('GW-16 stores a prompt once when it is sent twice at the same moment', async () => {
  const { project_id } = await fixture.project(client);
  const other = await fixture.client(gateway);
  const payload = { project_id, prompt: 'race', idempotency_key: newId() };
  const answers = await Promise.all([client, other, client, other].map((one) => one.call('execute', payload)));
  expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
});

it('GW-51 says in the message of a prompt who sent it', async () => {
  const { project_id } = await fixture.project(client);
  const sender = await fixture.client(gateway, await fixture.user({ projectId: project_id, role: 'editor' }));
  await client.call('project_join', { project_id });
  await sender.call('execute', { project_id, prompt: 'who am I' });
  const { payload } = await client.waitFor('event', ({ type }) => type === 'message.user');
  const { user_id, name } = sender.hello.user;
  expect(payload).toEqual({ text: 'who am I', user_id, user_name: name });
});

it('GW-19 runs a prompt with the defaults of its project, overridden by its own', async () => {
  const project = await client.call('project_create', {
    path: `${fixture.root}/${newId()}`,
    options: { model: 'sonnet', max_turns: 7, timeout_ms: 30_000 },
  });
  const run = await client.call('execute', {
    project_id: project.project_id,
    prompt: 'x',
    options: { model: 'opus', permission_mode: 'plan' },
  });
  expect(await stored(run.run_id)).toMatchObject({
    options: { model: 'opus', max_turns: 7, permission_mode: 'plan' },
    timeoutMs: 30_000,
  });
});

it('GW-19 refuses a timeout above the limit', async () => {
  const { project_id } = await fixture.project(client);
  const problem = (path: string) => ({
    code: 'request.invalid_payload',
    details: { fields: [{ path, message: 'must not exceed 120000' }] },
  });
  expect(await client.refusal('execute', { project_id, prompt: 'x', options: { timeout_ms: 120_001 } })).toMatchObject(
    problem('options.timeout_ms'),
  );
  expect(await client.refusal('execute_command', { project_id, command: 'x', timeout_ms: 120_001 })).toMatchObject(
    problem('timeout_ms'),
  );
  const { run_id } = await client.call('execute_command', { project_id, command: 'x' });
  expect((await stored(run_id)).timeoutMs).toBe(60_000);
});

it('GW-20, GW-21 stores a shell string and an argv array as they were sent', async () => {
  const { project_id } = await fixture.project(client);
  const shell = 'echo "$HOME" | grep -c \'\' && exit 3 # ünïcode';
  const one = await client.call('execute_command', { project_id, command: shell, working_directory: 'src/../lib' });
  expect(one).toMatchObject({ shell_command: shell, command_session_id: `cmd-${one.run_id}`, status: 'dispatched' });
  expect(await stored(one.run_id)).toMatchObject({ shellCommand: shell, argv: [], workingDir: '/workspace/lib' });
  const argv = ['printf', '%s\\n', 'a b', '', '$HOME', '-n', '--', '"'];
  const two = await client.call('execute_command', { project_id, command: argv });
  expect(await stored(two.run_id)).toMatchObject({ shellCommand: null, argv, workingDir: null, lane: 'main' });
});

it('GW-20 refuses a working directory outside the workspace and an empty command', async () => {
  const { project_id } = await fixture.project(client);
  const refused = async (payload: object) => (await client.refusal('execute_command', { project_id, ...payload })).code;
  expect(await refused({ command: 'ls', working_directory: '../etc' })).toBe('command.working_directory');
  expect(await refused({ command: 'ls', working_directory: '/etc' })).toBe('command.working_directory');
  expect(await refused({ command: '   ' })).toBe('command.invalid');
  expect(await refused({ command: [''] })).toBe('command.invalid');
  expect(await refused({ command: [] })).toBe('request.invalid_payload');
});

it('GW-21 starts a parallel command at once and queues the others', async () => {
  const { project_id } = await fixture.project(client);
  const [prompt, behind, beside] = await Promise.all([
    client.call('execute', { project_id, prompt: 'x' }),
    client.call('execute_command', { project_id, command: 'true' }),
    client.call('execute_command', { project_id, command: 'true', parallel: true }),
  ]);
  expect([prompt.status, behind.status, beside.status]).toEqual(['dispatched', 'queued', 'dispatched']);
  expect(behind.position).toBe(0);
  expect((await stored(beside.run_id)).lane).toMatch(/^cmd-[0-9a-f]{12}$/);
  const { queue } = await client.call('project_join', { project_id });
  expect(queue.lanes.find(({ lane }) => lane === 'main')).toMatchObject({
    active_run_id: prompt.run_id,
    queued: [{ run_id: behind.run_id, kind: 'command', title: 'true' }],
  });
});

it('GW-22 cancels a queued run at once, asks the worker for a running one, and refuses one that is over', async () => {
  const { project_id } = await fixture.project(client);
  expect(await client.refusal('agent_kill', { project_id })).toMatchObject({ code: 'run.none_active' });
  const first = await client.call('execute', { project_id, prompt: 'one' });
  const second = await client.call('execute', { project_id, prompt: 'two' });
  expect(await client.call('run_cancel', { run_id: second.run_id })).toMatchObject({ status: 'cancelled' });
  expect(await client.refusal('run_cancel', { run_id: second.run_id })).toMatchObject({ code: 'run.already_finished' });

  await fixture.host.claim(first.run_id);
  const woken = new Promise<void>((resolve) => {
    void fixture.host.bus.onWake(fixture.host.lease.hostId, resolve);
  });
  expect(await client.call('agent_kill', { project_id })).toMatchObject({ run_id: first.run_id, status: 'running' });
  await woken;
  const intents = await fixture.host.execution.openIntents([first.run_id]);
  expect(intents.map(({ runId, kind }) => [runId, kind])).toContainEqual([first.run_id, 'cancel']);
});

it('GW-22 leaves a command alone when the agent is to be killed', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute_command', { project_id, command: 'sleep 1000' });
  await fixture.host.claim(run_id);
  expect(await client.refusal('agent_kill', { project_id })).toMatchObject({ code: 'run.none_active' });
  expect(await client.call('run_get', { run_id })).toMatchObject({ status: 'running' });
});

it('GW-22 forgets the conversation on agent_new_session', async () => {
  const { project_id } = await fixture.project(client);
  const first = await client.call('execute', { project_id, prompt: 'one' });
  const same = await client.call('execute', { project_id, prompt: 'two' });
  expect(same.session_id).toBe(first.session_id);
  expect(await client.call('agent_new_session', { project_id })).toEqual({
    project_id,
    old_session_id: first.session_id,
    new_session_id: '',
  });
  const fresh = await client.call('execute', { project_id, prompt: 'three' });
  expect(fresh.session_id).not.toBe(first.session_id);
  const back = await client.call('execute', { project_id, prompt: 'four', session_id: first.session_id });
  expect(back.session_id).toBe(first.session_id);
  const { sessions } = await client.call('session_list', { project_id });
  expect(sessions.map(({ session_id }) => session_id).sort()).toEqual([first.session_id, fresh.session_id].sort());
  expect(await client.refusal('execute', { project_id, prompt: 'x', session_id: newId() })).toMatchObject({
    code: 'session.not_found',
  });
});

it('GW-8 does not let a conversation of one project be continued in another', async () => {
  const one = await fixture.project(client);
  const two = await fixture.project(client);
  const { session_id } = await client.call('execute', { project_id: one.project_id, prompt: 'x' });
  expect(await client.refusal('execute', { project_id: two.project_id, prompt: 'x', session_id })).toMatchObject({
    code: 'session.not_found',
  });
});

it('GW-38 lists runs newest first, page by page and by status', async () => {
  const { project_id } = await fixture.project(client);
  const made: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    made.unshift((await client.call('execute_command', { project_id, command: `echo ${count}` })).run_id);
  }
  const first = await client.call('run_list', { project_id, limit: 3 });
  const rest = await client.call('run_list', { project_id, limit: 3, cursor: first.next_cursor ?? '' });
  expect([...first.runs, ...rest.runs].map(({ run_id }) => run_id)).toEqual(made);
  expect(rest.next_cursor).toBeUndefined();
  const active = await client.call('run_list', { project_id, status: 'dispatched' });
  expect(active.runs.map(({ run_id }) => run_id)).toEqual([made[3]]);
});
