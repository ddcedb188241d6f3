// A command's way, order, cancelling and limits, in a real container.
import { newId } from '#kernel';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { docker } from './docker-cli.js';
import { startPath, TURN_MS, type PathFixture } from './path-fixture.js';

let path: PathFixture;
beforeAll(async () => {
  path = await startPath({ workerEnv: { SANDBOX_MEMORY_MB: '512', SANDBOX_TMP_MB: '64' } });
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const finishedAt = async (runId: string): Promise<{ started: number; finished: number; status: string }> => {
  const row = await path.stack.database.db.client.run.findUniqueOrThrow({ where: { id: runId } });
  return { started: row.startedAt?.getTime() ?? 0, finished: row.finishedAt?.getTime() ?? 0, status: row.status };
};

it(
  'PATH-5 gives stdout and stderr by offset, exactly, and stores exit code and duration',
  async () => {
    const projectId = await path.project();
    const { run_id: runId } = await path.client.call('execute_command', {
      project_id: projectId,
      command:
        'for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done; head -c 300000 /dev/zero | tr "\\0" x; exit 7',
    });
    const subscribed = await path.client.call('stream_subscribe', { stream_id: runId, window_bytes: 4 * 1024 * 1024 });
    expect(subscribed.start_offset).toBe(0);
    const end = await path.client.waitFor('stream_end', (push) => push.stream_id === runId, TURN_MS);
    expect(end).toMatchObject({ exit_code: 7 });
    const pushes = path.client.all('stream_data').filter((push) => push.stream_id === runId);
    let offset = 0;
    for (const push of pushes) {
      expect(push.offset).toBe(offset);
      offset += push.data.byteLength;
    }
    expect(end.end_offset).toBe(offset);
    const text = (channel: string): string =>
      Buffer.concat(pushes.filter((push) => push.channel === channel).map((push) => Buffer.from(push.data))).toString();
    expect(text('stderr')).toBe(Array.from({ length: 9 }, (_, index) => `err${index + 1}\n`).join(''));
    expect(text('stdout').slice(0, 45)).toBe(Array.from({ length: 9 }, (_, index) => `out${index + 1}\n`).join(''));
    expect(text('stdout').length).toBe(45 + 300_000);
    await path.finished(runId);
    const [history] = (await path.client.call('get_command_history', { project_id: projectId })).sessions;
    expect(history).toMatchObject({ run_id: runId, exit_code: 7, is_complete: true });
    expect(history?.duration_ms).toBeGreaterThan(0);
  },
  TURN_MS,
);

it(
  'PATH-5 runs an argv without a shell',
  async () => {
    const projectId = await path.project();
    const { run_id: runId, command_session_id: id } = await path.client.call('execute_command', {
      project_id: projectId,
      command: ['printf', '%s|', '$HOME', '; ls', '--help'],
    });
    await path.finished(runId);
    expect((await path.client.call('get_command_output', { command_session_id: id })).output).toBe(
      '$HOME|; ls|--help|',
    );
  },
  TURN_MS,
);

it(
  'PATH-6 runs two prompts and a command of one project in order, and two projects side by side',
  async () => {
    const [first, second] = [await path.project(), await path.project()];
    const queued = await Promise.all([
      path.prompt(first, 'demo:slow 10 30'),
      path.client.call('execute_command', { project_id: first, command: 'sleep 0.5' }),
      path.prompt(first, 'demo:say last'),
    ]);
    const blocker = await path.client.call('execute_command', {
      project_id: second,
      command: 'until [ -e go ]; do sleep 0.05; done',
    });
    const ends = await Promise.all(queued.map((run) => path.finished(run.run_id)));
    expect(ends.map((end) => end.payload['status'])).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const rows = await Promise.all(queued.map((run) => finishedAt(run.run_id)));
    const inOrder = [...rows].sort((a, b) => a.started - b.started);
    for (const [index, row] of inOrder.entries()) {
      if (index > 0) expect(row.started).toBeGreaterThanOrEqual(inOrder[index - 1]?.finished ?? 0);
    }
    // The other project was at work all the while.
    expect((await finishedAt(blocker.run_id)).status).toBe('running');
    await path.client.call('run_cancel', { run_id: blocker.run_id });
    await path.finished(blocker.run_id);
  },
  TURN_MS * 2,
);

it(
  'PATH-7 ends a command and everything it started, and the lane goes on',
  async () => {
    const projectId = await path.project();
    const marker = `run-${newId()}`;
    const { run_id: runId } = await path.client.call('execute_command', {
      project_id: projectId,
      command: `echo up; (setsid sh -c 'exec -a ${marker} sleep 600' & ) ; sh -c 'trap "" INT TERM; sleep 601 # ${marker}'`,
    });
    await path.client.call('stream_subscribe', { stream_id: runId });
    await path.client.waitFor('stream_data', (push) => push.stream_id === runId, TURN_MS);
    const next = path.shell(projectId, 'ps -eo args');
    await path.client.call('run_cancel', { run_id: runId });
    expect((await path.finished(runId)).payload['status']).toBe('cancelled');
    const { output, exitCode } = await next;
    expect(exitCode).toBe(0);
    expect(output).not.toContain(marker);
    expect(output).not.toMatch(/sleep 60[01]/);
  },
  TURN_MS,
);

it(
  'PATH-7 kills a prompt at work in a tool, and the conversation goes on',
  async () => {
    const projectId = await path.project();
    await path.answer(projectId, 'demo:remember before the kill');
    const { run_id: runId } = await path.prompt(projectId, 'demo:bash touch at-work; sleep 602', {
      options: { dangerously_skip_permissions: true },
    });
    await path.client.waitFor(
      'event',
      (event) => event.run_id === runId && JSON.stringify(event.payload).includes('sleep 602'),
      TURN_MS,
    );
    const killed = await path.client.call('agent_kill', { project_id: projectId });
    expect(killed.run_id).toBe(runId);
    expect((await path.finished(runId)).payload['status']).toBe('cancelled');
    expect((await path.shell(projectId, 'ps -eo args')).output).not.toContain('sleep 602');
    expect((await path.client.refusal('agent_kill', { project_id: projectId })).code).toBe('run.none_active');
    expect(await path.answer(projectId, 'demo:recall')).toContain('before the kill');
  },
  TURN_MS * 2,
);

it(
  'PATH-8 ends a run at its timeout, and the lane goes on',
  async () => {
    const projectId = await path.project();
    const { run_id: runId } = await path.client.call('execute_command', {
      project_id: projectId,
      command: 'sleep 603',
      timeout_ms: 700,
    });
    const end = await path.finished(runId);
    expect(end.payload).toMatchObject({ status: 'timed_out', error: { code: 'run.timed_out' } });
    expect((await path.shell(projectId, 'ps -eo args')).output).not.toContain('sleep 603');
  },
  TURN_MS,
);

it(
  'PATH-13 says that a job ran out of memory, and the lane goes on',
  async () => {
    const projectId = await path.project();
    const { run_id: runId } = await path.client.call('execute_command', {
      project_id: projectId,
      command: ['/opt/gantry/bin/node', '-e', 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));'],
    });
    const end = await path.finished(runId);
    expect(end.payload).toMatchObject({ status: 'failed', error: { code: 'sandbox.out_of_memory' } });
    expect((await path.shell(projectId, 'echo alive')).output).toBe('alive\n');
  },
  TURN_MS,
);

it(
  'PATH-15 deletes an idle project with its container and HOME, not the folder, and refuses to delete a busy one',
  async () => {
    const projectId = await path.project('deleted');
    const ofProject = (...args: string[]): string => docker(...args, '--filter', `label=gantry.project=${projectId}`);
    const busy = await path.client.call('execute_command', { project_id: projectId, command: 'sleep 604' });
    await path.client.waitFor(
      'event',
      (event) => event.run_id === busy.run_id && event.type === 'run.started',
      TURN_MS,
    );
    expect((await path.client.refusal('project_delete', { project_id: projectId })).code).toBe('project.busy');
    await path.client.call('run_cancel', { run_id: busy.run_id });
    await path.finished(busy.run_id);
    await path.shell(projectId, 'echo kept > kept.txt');
    expect(ofProject('ps', '-aq')).not.toBe('');
    expect(ofProject('volume', 'ls', '-q')).not.toBe('');
    expect(await path.client.call('project_delete', { project_id: projectId })).toEqual({
      project_id: projectId,
      success: true,
    });
    expect(ofProject('ps', '-aq')).toBe('');
    expect(ofProject('volume', 'ls', '-q')).toBe('');
    expect(existsSync(join(path.stack.projectRoot, 'deleted', 'kept.txt'))).toBe(true);
    expect((await path.client.refusal('project_join', { project_id: projectId })).code).toBe('project.not_found');
  },
  TURN_MS,
);
