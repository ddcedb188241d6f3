// Order, sequence numbers and the end of runs, on a real Postgres.
import { newId } from '#kernel';
import pg from 'pg';
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

/** Pid of the one backend of this database that waits for a lock; asks until there is one. */
async function waitingBackend(client: pg.Client): Promise<number> {
  for (;;) {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    const [row] = rows;
    if (row !== undefined) return row.pid;
  }
}

beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.database.close();
});

const statuses = async (projectId: string): Promise<string[]> => {
  const { items } = await fixture.runs.list(projectId, {}, { limit: 100 });
  return items.map((item) => item.run.status).reverse();
};

it('DATA-1 numbers the events of a project without gaps while many append at once', async () => {
  const project = await createProject(fixture);
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      fixture.runs.enqueueCommand(newCommand(fixture, project.projectId, { argv: ['echo', String(index)] })),
    ),
  );
  const { events } = await fixture.events.after(project.projectId, 0, ALL_EVENTS);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect((await fixture.events.heads([project.projectId])).get(project.projectId)?.headSeq).toBe(events.length);
});

it('DATA-1 locks the head before any row of a run', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const other = new pg.Client({ connectionString: fixture.database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM project_head WHERE project_id = $1 FOR UPDATE', [project.projectId]);
    const finished = fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 });
    const waiting = await waitingBackend(other);
    const { rows } = await other.query(
      `SELECT mode FROM pg_locks WHERE pid = $1 AND relation = 'run'::regclass AND mode <> 'AccessShareLock'`,
      [waiting],
    );
    expect(rows).toEqual([]);
    await other.query('COMMIT');
    expect((await finished).result.status).toBe('succeeded');
  } finally {
    await other.end();
  }
});

it('DATA-1 sees what was committed while it waited for the head, of the project, too', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  await fixture.runs.resetSession(project.projectId);
  const other = new pg.Client({ connectionString: fixture.database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM project_head WHERE project_id = $1 FOR UPDATE', [project.projectId]);
    const queued = fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
    await waitingBackend(other);
    await other.query('UPDATE project_head SET queue_revision = queue_revision + 1 WHERE project_id = $1', [
      project.projectId,
    ]);
    await other.query('UPDATE project SET current_session_id = $2 WHERE id = $1', [
      project.projectId,
      result.run.sessionId,
    ]);
    await other.query('COMMIT');
    expect((await queued).result.run.sessionId).toBe(result.run.sessionId);
  } finally {
    await other.end();
  }
});

it('DATA-24 lets others read and write while one project is in a rush', async () => {
  const [rushed, other] = [await createProject(fixture), await createProject(fixture)];
  const blocker = new pg.Client({ connectionString: fixture.database.url });
  await blocker.connect();
  try {
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM project_head WHERE project_id = $1 FOR UPDATE', [rushed.projectId]);
    // More than the pool has connections; all of them wait for the head that is held.
    const waiting = Array.from({ length: 40 }, () =>
      fixture.runs.enqueueCommand(newCommand(fixture, rushed.projectId)),
    );
    await waitingBackend(blocker);
    await fixture.runs.enqueueCommand(newCommand(fixture, other.projectId));
    expect((await fixture.runs.queue(other.projectId)).lanes).toHaveLength(1);
    await blocker.query('COMMIT');
    expect(await Promise.all(waiting)).toHaveLength(40);
  } finally {
    await blocker.end();
  }
});

it('DATA-2 dispatches the first run of a lane only, and the next one when it ends', async () => {
  const project = await createProject(fixture);
  const first = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const second = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  expect(first.announcement.dispatches.map((dispatch) => dispatch.runId)).toEqual([first.result.run.runId]);
  expect(second.announcement.dispatches).toEqual([]);
  expect(second.result.position).toBe(0);
  const claimed = await claimFirst(fixture, first.result.run.runId);
  const end = await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 5 });
  expect(end.announcement.dispatches).toMatchObject([{ runId: second.result.run.runId, dispatchNo: 1 }]);
  expect(await statuses(project.projectId)).toEqual(['succeeded', 'dispatched']);
});

it('DATA-3 the database refuses a second active run in a lane and of a conversation', async () => {
  const project = await createProject(fixture);
  const first = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const second = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const force = (columns: string): Promise<number> =>
    fixture.database.db.client.$executeRawUnsafe(
      `UPDATE run SET status = 'running', ${columns} WHERE id = '${second.result.run.runId}'`,
    );
  await expect(force(`lane = 'main'`)).rejects.toThrow(/run_lane_active_key|Unique constraint/);
  await expect(force(`lane = 'other', session_id = '${String(first.result.run.sessionId)}'`)).rejects.toThrow(
    /run_session_active_key|Unique constraint/,
  );
});

it('DATA-4 runs two lanes at once, but one conversation in one lane at a time', async () => {
  const project = await createProject(fixture);
  const first = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const other = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId, { lane: 'side' }));
  const same = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { lane: 'third' }));
  expect(other.announcement.dispatches).toHaveLength(1);
  expect(same.announcement.dispatches).toHaveLength(0);
  const claimed = await claimFirst(fixture, first.result.run.runId);
  const end = await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 });
  expect(end.announcement.dispatches.map((dispatch) => dispatch.runId)).toEqual([same.result.run.runId]);
});

it('DATA-10 ends questions, promotes and sets the state of the project in one commit', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const process = await fixture.execution.beginProcess(fenceOf(claimed), {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: result.run.sessionId,
    kind: 'agent',
    fingerprint: 'f',
    tokenHash: null,
  });
  await fixture.execution.openPermission({
    ...fenceOf(claimed),
    requestId: newId(),
    processId: process.processId,
    toolUseId: 't-1',
    toolName: 'Bash',
    input: {},
    inputHash: 'h',
    suggestions: [],
  });
  const end = await fixture.execution.finish(fenceOf(claimed), {
    status: 'failed',
    activeMs: 1,
    error: { code: 'agent.crashed', message: 'gone' },
    sessionStatus: 'crashed',
  });
  expect(end.announcement.events.map((event) => event.type)).toEqual([
    'permission.closed',
    'session.updated',
    'run.finished',
    'project.state',
  ]);
  expect((await fixture.projects.find(project.projectId))?.state).toBe('ERROR');
  expect(await fixture.permissions.openOf(project.projectId)).toEqual([]);
});

it('DATA-5 a finished run never changes again', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1, exitCode: 0 });
  await expect(fixture.execution.finish(fenceOf(claimed), { status: 'failed', activeMs: 1 })).rejects.toMatchObject({
    code: 'write.fenced',
  });
  await expect(fixture.runs.cancel(result.run.runId, fixture.userId)).rejects.toMatchObject({
    code: 'run.already_finished',
  });
  expect((await fixture.runs.find(result.run.runId))?.status).toBe('succeeded');
});

it('DATA-5 cancels a queued run at once and leaves an intent for a running one', async () => {
  const project = await createProject(fixture);
  const first = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const second = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const gone = await fixture.runs.cancel(second.result.run.runId, fixture.userId);
  expect(gone.result.status).toBe('cancelled');
  expect(gone.announcement.events.map((event) => event.type)).toEqual(['run.cancelled']);
  const asked = await fixture.runs.cancel(first.result.run.runId, fixture.userId);
  expect(asked.announcement.wakeHostIds).toEqual([fixture.lease.hostId]);
  await fixture.runs.cancel(first.result.run.runId, fixture.userId);
  const intents = await fixture.execution.openIntents([first.result.run.runId]);
  expect(intents).toHaveLength(1);
});
