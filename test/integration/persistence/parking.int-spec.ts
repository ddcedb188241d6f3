// Questions over time, on a real Postgres: parking, coming back, rules that answer, answers that nobody gives.
import { newId } from '#kernel';
import type { ClaimedRun } from '#domain';
import { until } from '#testing';
import {
  ALL_EVENTS,
  claimFirst,
  createFixture,
  createProject,
  fenceOf,
  newCommand,
  newPrompt,
  type Fixture,
} from './persistence-fixture.js';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(async () => {
  await fixture.database.close();
});

const hostId = () => fixture.lease.hostId;
const statusOf = async (runId: string) => (await fixture.runs.find(runId))?.status;

interface Asking {
  projectId: string;
  sessionId: string;
  claimed: ClaimedRun;
  processId: string;
  runId: string;
}

/** A prompt at work with a process, in a project with these settings. */
async function working(settings: Record<string, unknown> = {}, lane = 'main', projectId?: string): Promise<Asking> {
  const project = projectId ?? (await createProject(fixture)).projectId;
  await fixture.projects.update(project, { settings });
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project, { lane }));
  const claimed = await claimFirst(fixture, result.run.runId);
  const { processId } = await fixture.execution.beginProcess(fenceOf(claimed), {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: result.run.sessionId,
    kind: 'agent',
    fingerprint: 'f',
    tokenHash: null,
  });
  const { runId, sessionId } = result.run;
  return { projectId: project, sessionId: sessionId ?? '', claimed, processId, runId };
}

async function ask({ claimed, processId }: Asking, toolUseId = 't1', more: object = {}) {
  const { result } = await fixture.execution.openPermission({
    ...fenceOf(claimed),
    requestId: newId(),
    processId,
    toolUseId,
    toolName: 'Bash',
    input: { command: 'ls' },
    inputHash: 'h',
    suggestions: [],
    ...more,
  });
  return result;
}

const answer = (requestId: string) =>
  fixture.permissions.answer(requestId, { behavior: 'allow', inputHash: 'h', userId: fixture.userId });

/** Its question is open for longer than the setting allows, and the holder looks. */
async function parked(asking: Asking, toolUseId = 't1') {
  const question = await ask(asking, toolUseId);
  const [announcement] = await until('it is parked', async () => {
    const done = await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 1 });
    return done.length > 0 && done;
  });
  return { question, announcement };
}

const typesOf = async (projectId: string) =>
  (await fixture.events.after(projectId, 0, ALL_EVENTS)).events.map(({ type }) => type);

describe('parking', () => {
  it('APR-8 frees the lane for others and keeps the question open', async () => {
    const asking = await working();
    const command = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId));
    const { question, announcement } = await parked(asking);
    expect(announcement?.dispatches.map(({ runId }) => runId)).toEqual([command.result.run.runId]);
    expect(announcement?.events.map(({ type, payload }) => [type, payload['status']])).toEqual([
      ['run.updated', 'parked'],
    ]);
    expect(announcement?.queue?.lanes).toMatchObject([
      {
        activeRunId: command.result.run.runId,
        parked: [{ runId: asking.runId, status: 'parked', waitReason: 'permission' }],
      },
    ]);
    expect((await fixture.permissions.find(question.requestId))?.status).toBe('open');
    expect((await fixture.projects.find(asking.projectId))?.state).toBe('EXECUTING');
  });

  it('APR-8 parks after what the project says, or else the installation, and never with 0', async () => {
    const [never, long, short] = [
      await working({ park_after_ms: 0 }),
      await working({ park_after_ms: 3_600_000 }),
      await working({ park_after_ms: 1 }),
    ];
    for (const asking of [never, long, short]) await ask(asking);
    await until('the one with the short time is parked', async () => {
      await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 0 });
      return (await statusOf(short.runId)) === 'parked';
    });
    expect([await statusOf(never.runId), await statusOf(long.runId)]).toEqual(['waiting', 'waiting']);
  });

  it('APR-9 holds up the prompts of its conversation, and nobody else', async () => {
    const asking = await working();
    const same = await fixture.runs.enqueuePrompt(newPrompt(fixture, asking.projectId));
    const elsewhere = await fixture.runs.enqueuePrompt(newPrompt(fixture, asking.projectId, { lane: 'side' }));
    const command = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId));
    const side = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId, { lane: 'side' }));
    await parked(asking);
    expect(await statusOf(command.result.run.runId)).toBe('dispatched');
    expect(await statusOf(side.result.run.runId)).toBe('dispatched');
    expect([await statusOf(same.result.run.runId), await statusOf(elsewhere.result.run.runId)]).toEqual([
      'queued',
      'queued',
    ]);
    expect(await fixture.execution.promoteFreeLanes(hostId())).toEqual([]);
  });

  it('APR-10 takes its lane back ahead of all that are queued, as soon as it is free', async () => {
    const asking = await working();
    const command = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId));
    const behind = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId));
    const { question } = await parked(asking);
    const answered = await answer(question.requestId);
    expect(await statusOf(asking.runId)).toBe('parked');
    expect(answered.announcement.dispatches).toEqual([]);
    expect((await fixture.execution.resumeRun(fenceOf(asking.claimed))).result).toBe(false);
    const claimed = await claimFirst(fixture, command.result.run.runId);
    const end = await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 });
    expect(end.announcement.dispatches).toEqual([]);
    expect(end.announcement.wakeHostIds).toEqual([hostId()]);
    expect(end.announcement.queue?.lanes).toMatchObject([{ active: { runId: asking.runId, status: 'waiting' } }]);
    expect(await fixture.execution.isParked(asking.runId)).toBe(false);
    // It is not parked again while it waits for a slot of the host.
    expect(await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 1 })).toEqual([]);
    expect((await fixture.execution.resumeRun(fenceOf(asking.claimed))).result).toBe(true);
    expect(await statusOf(behind.result.run.runId)).toBe('queued');
  });

  it('APR-10 comes back at once to a lane that is free, also to one that is paused', async () => {
    const asking = await working();
    const { question } = await parked(asking);
    await fixture.runs.pauseLane(asking.projectId, 'main', fixture.userId);
    const answered = await answer(question.requestId);
    expect(answered.announcement.events.map(({ type }) => type)).toEqual(['permission.closed', 'run.updated']);
    expect(await statusOf(asking.runId)).toBe('waiting');
  });

  it('APR-10 stays parked until its last question is closed, whoever closes it', async () => {
    const asking = await working();
    const { question } = await parked(asking);
    const second = await ask(asking, 't2');
    await answer(question.requestId);
    expect(await statusOf(asking.runId)).toBe('parked');
    await fixture.execution.cancelPermission(fenceOf(asking.claimed), second.requestId);
    expect(await statusOf(asking.runId)).toBe('waiting');
  });

  it('APR-10 is found by reconciling when nobody gave it its lane back', async () => {
    const asking = await working();
    await parked(asking);
    await fixture.database.db.client.permissionRequest.updateMany({
      where: { runId: asking.runId },
      data: { status: 'answered' },
    });
    const [announcement] = await fixture.execution.promoteFreeLanes(hostId());
    expect(announcement?.wakeHostIds).toEqual([hostId()]);
    expect(await statusOf(asking.runId)).toBe('waiting');
    expect(await fixture.execution.promoteFreeLanes(hostId())).toEqual([]);
  });

  it('APR-12 is taken over, ended and cancelled like any run at work, and leaves its lane alone', async () => {
    const asking = await working();
    const command = await fixture.runs.enqueueCommand(newCommand(fixture, asking.projectId));
    await parked(asking);
    expect((await fixture.execution.activeRuns(hostId())).map(({ runId, status }) => [runId, status])).toContainEqual([
      asking.runId,
      'parked',
    ]);
    const taken = await fixture.execution.claim({ runId: asking.runId, dispatchNo: 1 }, fixture.lease);
    expect(taken?.result.run).toMatchObject({ status: 'parked', epoch: asking.claimed.run.epoch + 1 });
    const asked = await fixture.runs.cancel(asking.runId, fixture.userId);
    expect(asked.announcement.wakeHostIds).toEqual([hostId()]);
    if (taken === undefined) throw new Error('the claim was stale');
    const end = await fixture.execution.finish(fenceOf(taken.result), { status: 'cancelled', activeMs: 1 });
    expect(end.announcement.dispatches).toEqual([]);
    expect(await statusOf(command.result.run.runId)).toBe('dispatched');
  });
});

describe('rules', () => {
  it('APR-1, APR-2, APR-3 answers by itself, and writes down that a rule did', async () => {
    const asking = await working({
      permission_policy: { mode: 'allow_in_sandbox', deny: [{ tool: 'Bash', pattern: 'rm *' }] },
    });
    const allowed = await ask(asking);
    expect(allowed).toMatchObject({
      status: 'answered',
      answer: { behavior: 'allow' },
      answeredVia: 'policy',
      answeredBy: null,
    });
    const denied = await ask(asking, 't2', { input: { command: 'rm -rf /' } });
    expect(denied).toMatchObject({ status: 'answered', answer: { behavior: 'deny' }, answeredVia: 'policy' });
    expect(await statusOf(asking.runId)).toBe('running');
    expect((await typesOf(asking.projectId)).slice(-4)).toEqual([
      'permission.requested',
      'permission.closed',
      'permission.requested',
      'permission.closed',
    ]);
    // Who answers now is told that it was answered, and by what.
    const late = await answer(allowed.requestId);
    expect(late.result).toMatchObject({ first: false, record: { answeredVia: 'policy' } });
    expect((await ask(asking)).requestId).toBe(allowed.requestId);
  });

  it('APR-4 refuses in mode ask, too, and asks for the rest', async () => {
    const asking = await working({ permission_policy: { mode: 'ask', deny: [{ tool: 'Bash', pattern: 'rm *' }] } });
    expect(await ask(asking, 't1', { input: { command: 'rm x' } })).toMatchObject({ answer: { behavior: 'deny' } });
    expect(await ask(asking, 't2')).toMatchObject({ status: 'open', expiresAt: null });
    expect(await statusOf(asking.runId)).toBe('waiting');
  });

  it('APR-6 follows the settings of the moment in which it is asked', async () => {
    const asking = await working();
    const first = await ask(asking);
    await fixture.projects.update(asking.projectId, { settings: { permission_policy: { mode: 'allow_in_sandbox' } } });
    expect((await ask(asking)).status).toBe('open');
    expect(await ask(asking, 't2')).toMatchObject({ status: 'answered' });
    expect((await answer(first.requestId)).result.first).toBe(true);
  });
});

describe('time', () => {
  it('APR-7 refuses for everybody when nobody has answered in time', async () => {
    const asking = await working({ permission_timeout_ms: 1000 });
    const question = await ask(asking);
    expect(question.expiresAt?.getTime()).toBeGreaterThan(Date.now());
    expect(await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 0 })).toEqual([]);
    const [announcement] = await until('its time is up', async () => {
      const done = await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 0 });
      return done.length > 0 && done;
    });
    expect(announcement?.events).toMatchObject([
      { type: 'permission.closed', payload: { status: 'expired', behavior: 'deny', answered_via: 'timeout' } },
    ]);
    expect(announcement?.wakeHostIds).toEqual([hostId()]);
    expect(await fixture.execution.answerOf(question.requestId)).toMatchObject({ behavior: 'deny' });
    await expect(answer(question.requestId)).rejects.toMatchObject({
      code: 'permission.closed',
      details: { status: 'expired' },
    });
    expect((await fixture.execution.resumeRun(fenceOf(asking.claimed))).result).toBe(true);
  });

  it('APR-7 brings a parked run back', async () => {
    const asking = await working({ permission_timeout_ms: 1000 });
    await parked(asking);
    await until('its time is up', async () => {
      await fixture.execution.closeOverdue(hostId(), { parkAfterMs: 1 });
      return (await statusOf(asking.runId)) === 'waiting';
    });
  });
});
