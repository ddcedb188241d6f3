// Questions over time, with the real CLI in a real container: parked, answered from elsewhere, answered by rules and by the clock.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventInfo } from '#protocol';
import { SocketClient } from '#testing';
import { startPath, TURN_MS, type PathFixture } from './path-fixture.js';

let path: PathFixture;
beforeAll(async () => {
  path = await startPath();
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const event = (runId: string, type: string, matches: (event: EventInfo) => boolean = () => true): Promise<EventInfo> =>
  path.client.waitFor('event', (one) => one.run_id === runId && one.type === type && matches(one), TURN_MS);

/** A turn that asks for leave to write a file, in a project with these settings. */
async function asking(name: string, settings: object): Promise<{ projectId: string; runId: string; asked: EventInfo }> {
  const projectId = await path.project(name);
  await path.client.call('project_update', { project_id: projectId, settings });
  const { run_id: runId } = await path.prompt(projectId, 'demo:bash echo allowed > made.txt');
  return { projectId, runId, asked: await event(runId, 'permission.requested') };
}

async function parked(name: string) {
  const { projectId, runId, asked } = await asking(name, { park_after_ms: 300 });
  await event(runId, 'run.updated', ({ payload }) => payload['status'] === 'parked');
  const processes = await agents(projectId);
  expect(processes).toHaveLength(1);
  return { projectId, runId, asked, pid: processes[0]?.pid };
}

const agents = (projectId: string) =>
  path.stack.database.db.client.process.findMany({ where: { projectId, kind: 'agent' } });

/** From another device, while the first one looks on. */
async function answerElsewhere(asked: EventInfo): Promise<void> {
  const other = await SocketClient.connect(path.stack.url, { token: path.stack.adminToken, clientId: 'elsewhere' });
  const answer = await other.call('permission_respond', {
    request_id: String(asked.payload['request_id']),
    input_hash: String(asked.payload['input_hash']),
    behavior: 'allow',
  });
  other.close();
  expect(answer).toMatchObject({ first: true, answered_via: 'person' });
}

async function expectEndedInSameProcess(projectId: string, runId: string, name: string, pid: unknown): Promise<void> {
  expect((await path.finished(runId)).payload['status']).toBe('succeeded');
  expect(await readFile(join(path.stack.projectRoot, name, 'made.txt'), 'utf8')).toBe('allowed\n');
  expect((await agents(projectId)).map((process) => process.pid)).toEqual([pid]);
}

it(
  'APR-13, APR-8 parks, lets a command run meanwhile, and goes on in the same process when another client answers',
  async () => {
    const { projectId, runId, asked, pid } = await parked('parked');
    const shown = await path.client.waitFor(
      'queue_changed',
      ({ lanes }) => lanes.some((lane) => lane.parked?.some((run) => run.run_id === runId) === true),
      TURN_MS,
    );
    expect(shown.lanes[0]?.parked?.[0]).toMatchObject({ status: 'parked', answerable_by: ['owner', 'editor'] });
    // The lane is free for others, while the question waits.
    expect(await path.shell(projectId, 'echo meanwhile')).toMatchObject({ exitCode: 0, output: 'meanwhile\n' });
    expect((await path.client.call('run_get', { run_id: runId })).status).toBe('parked');
    await answerElsewhere(asked);
    await expectEndedInSameProcess(projectId, runId, 'parked', pid);
  },
  TURN_MS * 2,
);

it(
  'APR-13, APR-11 hears the answer when the lane is free again, and not while a command has it',
  async () => {
    const { projectId, runId, asked, pid } = await parked('kept');
    const command = await path.client.call('execute_command', {
      project_id: projectId,
      command: 'while ! [ -e go ]; do sleep 0.1; done; ls made.txt 2>&1; exit 0',
    });
    await event(command.run_id, 'command.started');
    await answerElsewhere(asked);
    await event(runId, 'permission.closed');
    expect((await path.client.call('run_get', { run_id: runId })).status).toBe('parked');
    // A command of its own lane tells the other one to end.
    const go = await path.client.call('execute_command', {
      project_id: projectId,
      command: 'touch go',
      parallel: true,
    });
    await path.finished(go.run_id);
    await path.finished(command.run_id);
    await expectEndedInSameProcess(projectId, runId, 'kept', pid);
    const { output } = await path.client.call('get_command_output', { command_session_id: command.command_session_id });
    expect(output).toMatch(/cannot access|No such file/);
  },
  TURN_MS * 2,
);

it(
  'APR-13, APR-12 goes on in the same process though the worker was killed while it was parked',
  async () => {
    const { projectId, runId, asked, pid } = await parked('survives');
    await path.stack.service('worker').kill('SIGKILL');
    await path.stack.start('worker');
    expect(await path.shell(projectId, 'echo meanwhile')).toMatchObject({ exitCode: 0 });
    expect((await path.client.call('run_get', { run_id: runId })).status).toBe('parked');
    await answerElsewhere(asked);
    await expectEndedInSameProcess(projectId, runId, 'survives', pid);
    const { activeMs, durationMs } = await path.stack.database.db.client.run.findUniqueOrThrow({
      where: { id: runId },
    });
    const closed = (await event(runId, 'permission.closed')).created_at;
    const waitedMs = Date.parse(closed) - Date.parse(asked.created_at);
    expect(activeMs).toBeLessThanOrEqual((durationMs ?? 0) - waitedMs);
  },
  TURN_MS * 3,
);

it(
  'APR-12 ends when it is cancelled while it is parked, and leaves the lane to who has it',
  async () => {
    const { projectId, runId, asked } = await parked('cancelled');
    const command = await path.client.call('execute_command', { project_id: projectId, command: 'sleep 2; echo done' });
    await event(command.run_id, 'command.started');
    await path.client.call('run_cancel', { run_id: runId });
    expect((await path.finished(runId)).payload['status']).toBe('cancelled');
    const closed = await event(runId, 'permission.closed');
    expect(closed.payload).toMatchObject({ request_id: asked.payload['request_id'], status: 'run_ended' });
    expect((await path.finished(command.run_id)).payload).toMatchObject({ status: 'succeeded', exit_code: 0 });
  },
  TURN_MS * 2,
);

it(
  'APR-2, APR-3, APR-4 lets the rules answer: what they allow runs, what they refuse does not, and nobody waits',
  async () => {
    const projectId = await path.project('ruled');
    const deny = [{ tool: 'Bash', pattern: 'rm *' }];
    await path.client.call('project_update', {
      project_id: projectId,
      settings: { permission_policy: { mode: 'allow_in_sandbox', deny } },
    });
    const { run_id: runId } = await path.prompt(projectId, 'demo:bash echo kept > kept.txt ;; \\rm   kept.txt');
    expect((await path.finished(runId)).payload['status']).toBe('succeeded');
    const closed = path.eventsOf(runId).filter(({ type }) => type === 'permission.closed');
    expect(closed.map(({ payload }) => [payload['behavior'], payload['answered_via']])).toEqual([
      ['allow', 'policy'],
      ['deny', 'policy'],
    ]);
    expect(await readFile(join(path.stack.projectRoot, 'ruled', 'kept.txt'), 'utf8')).toBe('kept\n');
  },
  TURN_MS,
);

it(
  'APR-7 goes on without the tool when nobody has answered in time',
  async () => {
    const { projectId, runId } = await asking('late', { permission_timeout_ms: 1000 });
    const closed = await event(runId, 'permission.closed');
    expect(closed.payload).toMatchObject({ status: 'expired', behavior: 'deny', answered_via: 'timeout' });
    expect((await path.finished(runId)).payload['status']).toBe('succeeded');
    expect((await path.shell(projectId, 'ls')).output).not.toContain('made.txt');
  },
  TURN_MS,
);

it(
  'QUE-2, QUE-7 asks the agent what a queued prompt was changed to, and sends one at once by interrupting the turn in its way',
  async () => {
    const projectId = await path.project();
    const active = await path.prompt(projectId, 'demo:slow 600 100');
    await path.client.waitFor('delta', (delta) => delta.run_id === active.run_id, TURN_MS);
    const waiting = await path.prompt(projectId, 'demo:say old');
    await path.client.call('run_update', { run_id: waiting.run_id, prompt: 'demo:say new' });
    const now = await path.prompt(projectId, 'demo:say at once', { priority: 'now' });
    expect((await path.finished(active.run_id)).payload['status']).toBe('interrupted');
    for (const [{ run_id: runId }, text] of [
      [now, 'at once'],
      [waiting, 'new'],
    ] as const) {
      expect((await path.finished(runId)).payload['status']).toBe('succeeded');
      expect(path.eventsOf(runId).find(({ type }) => type === 'message.result')?.payload['text']).toBe(text);
    }
    const ends = path.client.all('event').filter(({ type }) => type === 'run.finished');
    const order = [active, now, waiting].map(({ run_id: id }) => ends.findIndex((end) => end.run_id === id));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  },
  TURN_MS * 2,
);
