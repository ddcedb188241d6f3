// Idempotency, paths, answers, history and errors of the stores, on a real Postgres.
import { newId } from '#kernel';
import type { PgEventStore } from '#persistence';
import { createDatabase, migrate } from '#persistence';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

it('DATA-8 a key that arrives twice at once creates one run and answers the same', async () => {
  const project = await createProject(fixture);
  const idempotency = { userId: fixture.userId, event: 'execute', key: newId(), payloadHash: 'p1' };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { idempotency }))),
  );
  expect(new Set(answers.map((answer) => answer.result.run.runId)).size).toBe(1);
  expect(new Set(answers.map((answer) => answer.result.run.status))).toEqual(new Set(['dispatched']));
  expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
  await expect(
    fixture.runs.enqueuePrompt(
      newPrompt(fixture, project.projectId, { idempotency: { ...idempotency, payloadHash: 'p2' } }),
    ),
  ).rejects.toMatchObject({ code: 'request.idempotency_mismatch' });
});

it('DATA-11 one folder is one project, and none lies in another, also when created at once', async () => {
  const base = `/srv/${newId()}`;
  const attempts = await Promise.allSettled([
    createProject(fixture, `${base}/a`),
    createProject(fixture, `${base}/a/b`),
    createProject(fixture, base),
  ]);
  expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
  for (const attempt of attempts) {
    if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'project.path_nested' });
  }
  const path = `/srv/${newId()}`;
  await createProject(fixture, path);
  await createProject(fixture, `${path}-not-nested`);
  await expect(createProject(fixture, path)).rejects.toMatchObject({ code: 'project.path_taken' });
});

it('DATA-9 the first answer wins and later ones are told who gave it', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const process = await fixture.execution.beginProcess(fenceOf(claimed), {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: result.run.sessionId,
    kind: 'agent',
    fingerprint: '',
    tokenHash: null,
  });
  const ask = {
    ...fenceOf(claimed),
    requestId: newId(),
    processId: process.processId,
    toolUseId: 'toolu_1',
    toolName: 'Bash',
    input: { command: 'ls' },
    inputHash: 'hash',
    suggestions: [],
  };
  const opened = await fixture.execution.openPermission(ask);
  const twice = await fixture.execution.openPermission({ ...ask, requestId: newId() });
  expect(twice.result.requestId).toBe(opened.result.requestId);
  expect(twice.announcement.events).toEqual([]);
  expect((await fixture.runs.find(result.run.runId))?.status).toBe('waiting');
  const answer = { behavior: 'allow' as const, inputHash: 'hash', userId: fixture.userId };
  await expect(fixture.permissions.answer(ask.requestId, { ...answer, inputHash: 'other' })).rejects.toMatchObject({
    code: 'permission.input_mismatch',
  });
  const first = await fixture.permissions.answer(ask.requestId, answer);
  const second = await fixture.permissions.answer(ask.requestId, { ...answer, behavior: 'deny' });
  expect(first.result.first).toBe(true);
  expect(first.announcement.wakeHostIds).toEqual([fixture.lease.hostId]);
  expect(second.result).toMatchObject({ first: false, record: { answer: { behavior: 'allow' } } });
  expect(second.result.record.answeredBy?.name).toBe('admin');
  expect((await fixture.execution.resumeRun(fenceOf(claimed))).result).toBe(true);
  expect((await fixture.runs.find(result.run.runId))?.status).toBe('running');
});

it('DATA-13 a busy project is not deleted; one whose deletion began is hidden', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  await expect(fixture.projects.beginDelete(project.projectId)).rejects.toMatchObject({ code: 'project.busy' });
  const claimed = await claimFirst(fixture, result.run.runId);
  await fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 });
  const gone = await fixture.projects.beginDelete(project.projectId);
  expect(gone.announcement.events.map((event) => event.type)).toEqual(['project.deleted']);
  expect(await fixture.projects.find(project.projectId)).toBeUndefined();
  expect((await fixture.projects.listDeleting(fixture.lease.hostId)).map((row) => row.projectId)).toContain(
    project.projectId,
  );
  await fixture.projects.finishDelete(project.projectId);
  expect((await fixture.events.heads([project.projectId])).size).toBe(0);
});

it('DATA-14 bounds every page of history by bytes, and always gives its first event', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { prompt: 'first' }));
  for (let index = 0; index < 6; index += 1) {
    await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { prompt: 'x'.repeat(1000) }));
  }
  const { projectId } = project;
  const sessionId = result.run.sessionId ?? '';
  const head = (await fixture.events.heads([projectId])).get(projectId)?.headSeq ?? 0;
  const store: PgEventStore = fixture.events;
  const bounds = { limit: 1000, maxBytes: 3000 };
  const newest = await store.newest(projectId, bounds);
  expect(newest.events.at(-1)?.seq).toBe(head);
  const pages = [
    newest,
    await store.after(projectId, 0, bounds),
    await store.since(projectId, new Date(0), bounds),
    await store.ofSession(projectId, sessionId, 0, bounds),
  ];
  for (const page of pages) {
    expect(page.truncated).toBe(true);
    expect(page.events.length).toBeGreaterThan(1);
    expect(JSON.stringify(page.events.map(({ payload }) => payload)).length).toBeLessThan(3000);
  }
  const one = await store.after(projectId, head - 3, { limit: 1000, maxBytes: 1 });
  expect(one.events.map(({ seq }) => seq)).toEqual([head - 2]);
});

it('DATA-14 pages history by key in both directions', async () => {
  const project = await createProject(fixture);
  for (let index = 0; index < 6; index += 1) {
    await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { prompt: 'x'.repeat(1000) }));
  }
  const head = (await fixture.events.heads([project.projectId])).get(project.projectId)?.headSeq ?? 0;
  const store: PgEventStore = fixture.events;
  const forwards = await store.after(project.projectId, 2, { ...ALL_EVENTS, limit: 3 });
  expect(forwards.events.map((event) => event.seq)).toEqual([3, 4, 5]);
  expect(forwards.truncated).toBe(true);
  const backwards = await store.newest(project.projectId, { ...ALL_EVENTS, limit: 3, beforeSeq: head });
  expect(backwards.events.map((event) => event.seq)).toEqual([head - 3, head - 2, head - 1]);
  expect((await store.since(project.projectId, new Date(0), ALL_EVENTS)).events).toHaveLength(head);
  await store.saveCursor(fixture.userId, 'browser', project.projectId, 5);
  await store.saveCursor(fixture.userId, 'browser', project.projectId, 3);
  expect(await store.cursorOf(fixture.userId, 'browser', project.projectId)).toBe(5);
});

it('DATA-15 stores text that Postgres cannot hold as the replacement character', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { prompt: 'a\ud800b' }));
  const claimed = await claimFirst(fixture, result.run.runId);
  await fixture.execution.appendEvents(fenceOf(claimed), [
    { type: 'message.system', payload: { text: 'nul \0 \\u0000 lone \udc00 pair \u{1f600}' } },
  ]);
  const { events } = await fixture.events.newest(project.projectId, { ...ALL_EVENTS, limit: 1 });
  expect(events[0]?.payload).toEqual({ text: 'nul \ufffd \\u0000 lone \ufffd pair \u{1f600}' });
});

it('DATA-16 says service.unavailable, without SQL, when the database does not answer', async () => {
  const nowhere = createDatabase('postgresql://nobody@127.0.0.1:1/none');
  const error: unknown = await nowhere.ping().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'service.unavailable', retryable: true });
  expect((error as Error).message).not.toMatch(/select|127\.0/i);
  await nowhere.close();
});

it('DATA-17 applies migrations once and refuses an edited one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gantry-migrations-'));
  try {
    cpSync(join(process.cwd(), 'prisma', 'migrations'), dir, { recursive: true });
    expect(await migrate(fixture.database.url, dir)).toEqual([]);
    writeFileSync(join(dir, '20261122000000_foundation', 'migration.sql'), '-- edited');
    await expect(migrate(fixture.database.url, dir)).rejects.toMatchObject({ code: 'config.invalid' });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
