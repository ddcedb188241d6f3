// What people change about a queue, on a real Postgres: text, places, priority, pauses.
import { newId } from '#kernel';
import type { EventRecord } from '#domain';
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
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.database.close();
});

/** A project whose main lane is taken by a command. */
async function busyProject(): Promise<{ projectId: string; activeId: string }> {
  const { projectId } = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, projectId, { argv: ['active'] }));
  await claimFirst(fixture, result.run.runId);
  return { projectId, activeId: result.run.runId };
}

async function enqueue(projectId: string, names: string[], more: object = {}): Promise<string[]> {
  const ids = [];
  for (const name of names) {
    const command = newCommand(fixture, projectId, { argv: [name], ...more });
    ids.push((await fixture.runs.enqueueCommand(command)).result.run.runId);
  }
  return ids;
}

async function order(projectId: string, lane = 'main'): Promise<string[]> {
  const { lanes } = await fixture.runs.queue(projectId);
  return lanes.find((each) => each.lane === lane)?.queued.map(({ title }) => title) ?? [];
}

const eventsOf = async (projectId: string, type: string): Promise<EventRecord[]> => {
  const { events } = await fixture.events.after(projectId, 0, ALL_EVENTS);
  return events.filter((event) => event.type === type);
};

async function finish(runId: string): Promise<void> {
  const run = await fixture.runs.find(runId);
  const claimed = await claimFirst(fixture, runId, run?.dispatchNo ?? 0);
  await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 });
}

const intents = (runId: string) => fixture.database.db.client.intent.findMany({ where: { runId } });

describe('run_update', () => {
  it('QUE-2 changes what a queued prompt asks, and tells who did', async () => {
    const { projectId, activeId } = await busyProject();
    const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, projectId, { prompt: 'first draft' }));
    const { runId } = result.run;
    const edited = await fixture.runs.edit(runId, fixture.userId, {
      prompt: 'second draft\nmore',
      options: { model: 'opus' },
      timeoutMs: 5,
    });
    expect(edited.result).toMatchObject({ position: 0, run: { prompt: 'second draft\nmore', timeoutMs: 5 } });
    expect(edited.announcement.queue?.lanes[0]?.queued).toMatchObject([{ runId, title: 'second draft' }]);
    expect(edited.announcement.events).toHaveLength(2);
    expect(edited.announcement.events.slice(0, 1)).toMatchObject([
      {
        type: 'run.updated',
        runId,
        payload: {
          text: 'second draft\nmore',
          title: 'second draft',
          options_changed: true,
          user_id: fixture.userId,
          user_name: 'admin',
        },
      },
    ]);
    // The conversation, which was named after its first prompt, is named after what that says now.
    expect(edited.announcement.events[1]).toMatchObject({
      type: 'session.updated',
      payload: { title: 'second draft' },
    });
    expect(await fixture.runs.findSession(result.run.sessionId ?? '')).toMatchObject({ title: 'second draft' });
    await finish(activeId);
    const claimed = await claimFirst(fixture, runId);
    expect(claimed.run).toMatchObject({ prompt: 'second draft\nmore', options: { model: 'opus' }, timeoutMs: 5 });
  });

  it('QUE-3 refuses runs that have started, that are over, and commands', async () => {
    const { projectId, activeId } = await busyProject();
    const [queued = ''] = await enqueue(projectId, ['a']);
    const edit = (runId: string) => fixture.runs.edit(runId, fixture.userId, { prompt: 'x' });
    await expect(edit(activeId)).rejects.toMatchObject({ code: 'run.not_queued', details: { status: 'running' } });
    await expect(edit(queued)).rejects.toMatchObject({ code: 'request.invalid_payload' });
    await expect(edit(newId())).rejects.toMatchObject({ code: 'run.not_found' });
    await fixture.runs.cancel(queued, fixture.userId);
    await expect(edit(queued)).rejects.toMatchObject({ code: 'run.not_queued', details: { status: 'cancelled' } });
  });

  it('QUE-3 races with the promotion: the prompt goes with the new text, or the change is refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { projectId, activeId } = await busyProject();
      const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, projectId, { prompt: 'old' }));
      const claimed = await fixture.execution.claim({ runId: activeId, dispatchNo: 1 }, fixture.lease);
      if (claimed === undefined) throw new Error('the claim was stale');
      const [edited] = await Promise.allSettled([
        fixture.runs.edit(result.run.runId, fixture.userId, { prompt: 'new' }),
        fixture.execution.finish(fenceOf(claimed.result), { status: 'succeeded', activeMs: 1 }),
      ]);
      const { run } = await claimFirst(fixture, result.run.runId);
      expect(run.prompt).toBe(edited.status === 'fulfilled' ? 'new' : 'old');
      if (edited.status === 'rejected') expect(edited.reason).toMatchObject({ code: 'run.not_queued' });
    }
  });
});

describe('run_move', () => {
  it('QUE-4 moves ahead of another run, and to the end', async () => {
    const { projectId, activeId } = await busyProject();
    const [a = '', b = '', c = ''] = await enqueue(projectId, ['a', 'b', 'c']);
    const moved = await fixture.runs.move(c, fixture.userId, a);
    expect(moved.result.position).toBe(0);
    expect(await order(projectId)).toEqual(['c', 'a', 'b']);
    expect((await fixture.runs.move(c, fixture.userId)).result.position).toBe(2);
    expect((await fixture.runs.move(c, fixture.userId, b)).result.position).toBe(1);
    expect((await fixture.runs.move(c, fixture.userId, c)).result.position).toBe(1);
    expect(await order(projectId)).toEqual(['a', 'c', 'b']);
    expect((await eventsOf(projectId, 'run.updated')).map(({ payload }) => payload['position'])).toEqual([0, 2, 1]);
    await finish(activeId);
    expect(await fixture.runs.find(a)).toMatchObject({ status: 'dispatched' });
  });

  it('QUE-4 numbers a lane anew when there is no room between two runs', async () => {
    const { projectId } = await busyProject();
    const ids = await enqueue(projectId, ['a', 'b', 'c', 'd']);
    const [, b = ''] = ids;
    // Each of the others goes right ahead of b, again and again: the room is halved each time.
    const others = ids.filter((runId) => runId !== b);
    for (let turn = 0; turn < 40; turn += 1) {
      await fixture.runs.move(others[turn % 3] ?? '', fixture.userId, b);
    }
    expect(await order(projectId)).toEqual(['c', 'd', 'a', 'b']);
    expect((await enqueue(projectId, ['e'])).length).toBe(1);
    expect(await order(projectId)).toEqual(['c', 'd', 'a', 'b', 'e']);
  });

  it('QUE-5 refuses what does not wait in the same lane', async () => {
    const { projectId, activeId } = await busyProject();
    const [a = ''] = await enqueue(projectId, ['a']);
    await enqueue(projectId, ['holds'], { lane: 'side' });
    const [elsewhere = ''] = await enqueue(projectId, ['waits'], { lane: 'side' });
    for (const target of [activeId, elsewhere, newId()]) {
      await expect(fixture.runs.move(a, fixture.userId, target)).rejects.toMatchObject({ code: 'run.not_queued' });
    }
    await expect(fixture.runs.move(activeId, fixture.userId, a)).rejects.toMatchObject({ code: 'run.not_queued' });
    expect(await order(projectId)).toEqual(['a']);
  });
});

describe('priority and if_busy', () => {
  it('QUE-6 puts next ahead of all that are queued, the later one first', async () => {
    const { projectId } = await busyProject();
    await enqueue(projectId, ['a', 'b']);
    const [first = ''] = await enqueue(projectId, ['n1'], { priority: 'next' });
    await enqueue(projectId, ['n2'], { priority: 'next' });
    expect(await order(projectId)).toEqual(['n2', 'n1', 'a', 'b']);
    expect(await intents(first)).toEqual([]);
  });

  it('QUE-7 interrupts with now what is in the way, once, also when it is sent twice', async () => {
    const { projectId, activeId } = await busyProject();
    await enqueue(projectId, ['a']);
    const idempotency = { userId: fixture.userId, event: 'execute', key: newId(), payloadHash: 'h' };
    const send = () =>
      fixture.runs.enqueuePrompt(newPrompt(fixture, projectId, { prompt: 'now!', priority: 'now', idempotency }));
    const first = await send();
    expect(first.result).toMatchObject({ position: 0, run: { status: 'queued' } });
    expect(first.announcement.wakeHostIds).toEqual([fixture.lease.hostId]);
    expect(await intents(activeId)).toMatchObject([{ kind: 'interrupt', appliedAt: null, createdBy: fixture.userId }]);
    expect((await send()).replayed).toBe(true);
    expect(await intents(activeId)).toHaveLength(1);
    expect(await order(projectId)).toEqual(['now!', 'a']);
  });

  it('QUE-7 interrupts nothing for a lane that is paused, nor where nothing is in the way', async () => {
    const { projectId, activeId } = await busyProject();
    await fixture.runs.pauseLane(projectId, 'main', fixture.userId);
    await enqueue(projectId, ['a'], { priority: 'now' });
    expect(await intents(activeId)).toEqual([]);
    const idle = await createProject(fixture);
    const [only = ''] = await enqueue(idle.projectId, ['a'], { priority: 'now' });
    expect(await fixture.runs.find(only)).toMatchObject({ status: 'dispatched' });
  });

  it('QUE-8 stores nothing where a run could not start at once, and names what is in the way', async () => {
    const { projectId, activeId } = await busyProject();
    const idempotency = { userId: fixture.userId, event: 'execute', key: newId(), payloadHash: 'h' };
    const send = () => fixture.runs.enqueuePrompt(newPrompt(fixture, projectId, { rejectIfBusy: true, idempotency }));
    const before = await fixture.events.heads([projectId]);
    await expect(send()).rejects.toMatchObject({
      code: 'session.locked',
      details: {
        blocker: {
          run_id: activeId,
          kind: 'command',
          status: 'running',
          title: 'active',
          since: expect.stringMatching(/^\d{4}-.*Z$/) as string,
          started_by: { user_id: fixture.userId, name: 'admin' },
        },
      },
    });
    expect(await fixture.events.heads([projectId])).toEqual(before);
    expect(await order(projectId)).toEqual([]);
    expect(await fixture.database.db.client.session.count({ where: { projectId } })).toBe(0);
    await finish(activeId);
    // The same key is as good as new; once it was taken, it stays taken.
    const taken = await send();
    expect(taken.result.run.status).toBe('dispatched');
    expect((await send()).result.run.runId).toBe(taken.result.run.runId);
  });

  it('QUE-8 names a conversation that is at work in another lane, and a pause', async () => {
    const { projectId } = await createProject(fixture);
    const active = await fixture.runs.enqueuePrompt(newPrompt(fixture, projectId));
    const elsewhere = newPrompt(fixture, projectId, { lane: 'side', rejectIfBusy: true });
    await expect(fixture.runs.enqueuePrompt(elsewhere)).rejects.toMatchObject({
      code: 'session.locked',
      details: { blocker: { run_id: active.result.run.runId, kind: 'prompt' } },
    });
    await fixture.runs.pauseLane(projectId, 'third', fixture.userId);
    const paused = newCommand(fixture, projectId, { lane: 'third', rejectIfBusy: true });
    await expect(fixture.runs.enqueueCommand(paused)).rejects.toMatchObject({
      code: 'session.locked',
      details: { paused: { by: { user_id: fixture.userId } } },
    });
  });
});

describe('lane_pause and lane_resume', () => {
  it('QUE-9 starts nothing while a lane is paused; what has begun goes on, and other lanes do', async () => {
    const { projectId, activeId } = await busyProject();
    const paused = await fixture.runs.pauseLane(projectId, 'main', fixture.userId);
    expect(paused.result).toMatchObject({ lane: 'main', activeRunId: activeId, paused: { by: fixture.userId } });
    expect(paused.announcement.queue?.lanes).toMatchObject([{ lane: 'main', paused: { by: fixture.userId } }]);
    const [a = ''] = await enqueue(projectId, ['a']);
    await finish(activeId);
    expect(await fixture.runs.find(a)).toMatchObject({ status: 'queued' });
    const [side = ''] = await enqueue(projectId, ['side'], { lane: 'side' });
    expect(await fixture.runs.find(side)).toMatchObject({ status: 'dispatched' });
    // Reconciling does not start it either, and has nothing to do.
    expect(await fixture.execution.promoteFreeLanes(fixture.lease.hostId)).toEqual([]);
    const resumed = await fixture.runs.resumeLane(projectId, 'main', fixture.userId);
    expect(resumed.announcement.dispatches.map(({ runId }) => runId)).toEqual([a]);
    expect(resumed.result).toMatchObject({ lane: 'main', activeRunId: a });
    expect(resumed.result.paused).toBeUndefined();
  });

  it('QUE-10 changes nothing the second time', async () => {
    const { projectId } = await createProject(fixture);
    const first = await fixture.runs.pauseLane(projectId, 'main', fixture.userId);
    const again = await fixture.runs.pauseLane(projectId, 'main', newId());
    expect(again.result).toEqual(first.result);
    expect(again.announcement.events).toEqual([]);
    await fixture.runs.resumeLane(projectId, 'main', fixture.userId);
    expect((await fixture.runs.resumeLane(projectId, 'main', fixture.userId)).announcement.events).toEqual([]);
    const told = (await eventsOf(projectId, 'project.updated')).map(({ payload }) => payload);
    expect(told).toMatchObject([
      { lane: 'main', paused: true, user_name: 'admin' },
      { lane: 'main', paused: false, user_name: 'admin' },
    ]);
    await fixture.runs.pauseLane(projectId, 'main', fixture.userId);
    expect((await fixture.projects.beginDelete(projectId)).result.projectId).toBe(projectId);
    await fixture.projects.finishDelete(projectId);
    await expect(fixture.runs.pauseLane(projectId, 'main', fixture.userId)).rejects.toMatchObject({
      code: 'project.not_found',
    });
  });
});

describe('a long queue', () => {
  it('QUE-12 lists its first 200 runs and counts the others, wherever it is shown', async () => {
    const { projectId, activeId } = await busyProject();
    await fixture.database.db.client.$executeRaw`
      INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by, title)
      SELECT gen_random_uuid(), ${projectId}::uuid, ${fixture.lease.hostId}::uuid, 'command', 'queued', n * 1024, 1, '',
        ${fixture.userId}::uuid, 'n' || n FROM generate_series(2, 1001) n`;
    await fixture.database.db.client.projectHead.update({ where: { projectId }, data: { lastPosition: 2_000_000 } });
    const { result, announcement } = await fixture.runs.enqueueCommand(newCommand(fixture, projectId));
    expect(result.position).toBe(1000);
    const [lane] = announcement.queue?.lanes ?? [];
    expect(lane).toMatchObject({ activeRunId: activeId, queuedCount: 1001 });
    expect(lane?.queued).toHaveLength(200);
    expect(lane?.queued[199]).toMatchObject({ position: 199, title: 'n201' });
    expect((await fixture.runs.findQueued(result.run.runId))?.position).toBe(1000);
    const { items } = await fixture.runs.list(projectId, { status: 'queued' }, { limit: 500 });
    expect(new Set(items.map(({ position }) => position)).size).toBe(500);
    expect(Buffer.byteLength(JSON.stringify(announcement.queue))).toBeLessThan(64 * 1024);
  });
});

it('QUE-15 lets a run go whose lane is free for it when the one ahead is cancelled, and shows it', async () => {
  const { projectId } = await createProject(fixture);
  await fixture.runs.enqueuePrompt(newPrompt(fixture, projectId));
  // Waits for its conversation, which is at work in the main lane.
  const held = await fixture.runs.enqueuePrompt(newPrompt(fixture, projectId, { lane: 'side' }));
  const [behind = ''] = await enqueue(projectId, ['behind'], { lane: 'side' });
  const gone = await fixture.runs.cancel(held.result.run.runId, fixture.userId);
  expect(gone.announcement.dispatches.map(({ runId }) => runId)).toEqual([behind]);
  expect((await fixture.projects.find(projectId))?.state).toBe('EXECUTING');
});

it('QUE-17 reads what is asked of one run, however much is asked of another', async () => {
  const [loud, quiet] = [await busyProject(), await busyProject()];
  await fixture.database.db.client.intent.createMany({
    data: Array.from({ length: 1000 }, () => ({
      id: newId(),
      hostId: fixture.lease.hostId,
      projectId: loud.projectId,
      runId: loud.activeId,
      kind: 'setting',
      createdBy: fixture.userId,
    })),
  });
  await fixture.runs.cancel(quiet.activeId, fixture.userId);
  const open = await fixture.execution.openIntents([loud.activeId, quiet.activeId]);
  expect(open.filter(({ runId }) => runId === loud.activeId)).toHaveLength(100);
  expect(open.at(-1)).toMatchObject({ runId: quiet.activeId, kind: 'cancel', createdBy: fixture.userId });
  expect(await fixture.execution.openIntents([])).toEqual([]);
});

it('QUE-1 merges the settings of a project key by key, and takes a key back with null', async () => {
  const { projectId } = await createProject(fixture);
  const set = async (settings: Record<string, unknown>) =>
    (await fixture.projects.update(projectId, { settings })).result.settings;
  expect(await set({ park_after_ms: 300, on_usage_limit: 'fail' })).toEqual({ parkAfterMs: 300, onUsageLimit: 'fail' });
  const policy = { mode: 'ask', deny: [{ tool: 'Bash', pattern: 'rm *' }] };
  expect(await set({ permission_policy: policy, park_after_ms: null, max_output_bytes: 70_000 })).toEqual({
    onUsageLimit: 'fail',
    permissionPolicy: policy,
    maxOutputBytes: 70_000,
  });
  const told = await eventsOf(projectId, 'project.updated');
  expect(told[0]?.payload).toEqual({ settings: { park_after_ms: 300, on_usage_limit: 'fail' } });
});
