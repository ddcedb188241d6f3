// A host whose worker never comes back, and one whose worker comes back too late.
import { SocketClient, type Stack, startStack } from '#testing';

let stack: Stack;
let client: SocketClient;
beforeAll(async () => {
  stack = await startStack({ gatewayEnv: { GANTRY_HOST_GRACE_MS: '2000' }, env: { GANTRY_LEASE_MS: '1000' } });
  client = await SocketClient.connect(stack.url, { token: stack.adminToken });
}, 120_000);
afterAll(async () => {
  client.close();
  await stack.close();
}, 60_000);

it('RET-12, RET-13, RET-14 ends what ran there honestly, lets the rest wait, and is whole again when a worker comes back', async () => {
  const { project_id } = await client.call('project_create', { path: `${stack.projectRoot}/lost` });
  await client.call('project_join', { project_id });
  const shell = 'echo up; i=0; while :; do i=$((i+1)); echo $i > beat; sleep 0.2; done';
  const begun = await client.call('execute_command', { project_id, command: shell });
  const queued = await client.call('execute_command', { project_id, command: 'echo after; cat beat' });
  await client.call('stream_subscribe', { stream_id: begun.run_id });
  await client.waitFor('stream_data', ({ stream_id }) => stream_id === begun.run_id, 60_000);

  await stack.service('worker').kill('SIGKILL');
  const finished = await client.waitFor(
    'event',
    ({ type, run_id }) => type === 'run.finished' && run_id === begun.run_id,
    30_000,
  );
  expect(finished.payload).toMatchObject({ status: 'failed', error: { code: 'sandbox.lost' } });
  const types = client
    .all('event')
    .filter(({ run_id }) => run_id === begun.run_id)
    .map(({ type }) => type);
  expect(types.filter((type) => type === 'sandbox.lost')).toHaveLength(1);
  expect(types.filter((type) => type === 'run.finished')).toHaveLength(1);
  expect(await client.waitFor('stream_end', ({ stream_id }) => stream_id === begun.run_id)).toMatchObject({
    reason: 'failed',
  });
  const { runs } = await client.call('run_list', { project_id });
  expect(runs.map(({ run_id, blocked_by }) => [run_id, blocked_by])).toEqual([
    [queued.run_id, 'host.unavailable'],
    [begun.run_id, undefined],
  ]);
  expect(await client.call('run_get', { run_id: queued.run_id })).toMatchObject({ blocked_by: 'host.unavailable' });
  expect(await client.call('health', {})).toMatchObject({ status: 'degraded', checks: { workers: { ok: false } } });

  await stack.start('worker');
  const after = await client.waitFor(
    'event',
    ({ type, run_id }) => type === 'run.finished' && run_id === queued.run_id,
    60_000,
  );
  expect(after.payload).toMatchObject({ status: 'succeeded' });
  expect(await client.call('health', {})).toMatchObject({ checks: { workers: { ok: true } } });
  // What the lost worker left running does not run any more.
  const stands = async () =>
    (await output(project_id, 'a=$(cat beat); sleep 1; [ "$a" = "$(cat beat)" ] && echo still')).includes('still');
  let still = false;
  for (const deadline = Date.now() + 20_000; !still && Date.now() < deadline;) still = await stands();
  expect(still).toBe(true);
  const [row] = await stack.database.db.client.host.findMany();
  expect(row?.lostAt).toBeNull();
  expect(
    client.all('event').filter(({ type, run_id }) => type === 'run.finished' && run_id === begun.run_id),
  ).toHaveLength(1);
}, 180_000);

async function output(project_id: string, command: string): Promise<string> {
  const { run_id, command_session_id } = await client.call('execute_command', { project_id, command });
  await client.waitFor('event', ({ type, run_id: id }) => type === 'run.finished' && id === run_id, 30_000);
  return (await client.call('get_command_output', { command_session_id })).output;
}
