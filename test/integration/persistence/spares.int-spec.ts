// Rows of spare agents, on a real Postgres.
import { newId } from '#kernel';
import type { HostLease } from '#domain';
import { hashToken, PgSpareStore } from '#persistence';
import { claimFirst, createFixture, createProject, newPrompt, type Fixture } from './persistence-fixture.js';

let fixture: Fixture;
let spares: PgSpareStore;
beforeAll(async () => {
  fixture = await createFixture();
  spares = new PgSpareStore(fixture.database.db);
});
afterAll(async () => {
  await fixture.database.close();
});

async function spareIn(projectId: string, lease: HostLease = fixture.lease): Promise<string> {
  const place = await spares.sandboxForSpare(projectId, lease, 100);
  if (place === undefined) throw new Error('the project has no use for a spare');
  const { processId, epoch } = await spares.beginSpare(lease, {
    processId: newId(),
    projectId,
    sandboxId: place.sandboxId,
    fingerprint: 'f',
    tokenHash: hashToken(newId()),
    bootId: newId(),
  });
  await spares.spareReady({ processId, processEpoch: epoch }, { pid: 7, bootId: newId(), outOffset: 42 });
  return processId;
}

it('DATA-27 a conversation that begins takes the spare of its project, and no other takes it again', async () => {
  const project = await createProject(fixture);
  const processId = await spareIn(project.projectId);
  const first = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { lane: 'a' }));
  await fixture.runs.resetSession(project.projectId);
  const second = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, { lane: 'b' }));
  const taken = await claimFirst(fixture, first.result.run.runId);
  expect(taken.warmProcess).toMatchObject({ processId, sessionId: first.result.run.sessionId, outOffset: 42 });
  expect((await claimFirst(fixture, second.result.run.runId)).warmProcess).toBeNull();
});

it('DATA-27 there is one spare of a project, none while a prompt is under way or a conversation goes on', async () => {
  const project = await createProject(fixture);
  const wanted = () => spares.sandboxForSpare(project.projectId, fixture.lease, 100);
  expect(await wanted()).toBeDefined();
  expect(await spares.sandboxForSpare(project.projectId, fixture.lease, 0)).toBeUndefined();
  await spareIn(project.projectId);
  expect(await wanted()).toBeUndefined();
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId, {}));
  await claimFirst(fixture, result.run.runId);
  expect(await wanted()).toBeUndefined();
  const { client } = fixture.database.db;
  await client.run.update({ where: { id: result.run.runId }, data: { status: 'succeeded', finishedAt: new Date() } });
  expect(await wanted()).toBeDefined();
  await client.session.update({ where: { id: result.run.sessionId ?? '' }, data: { agentSessionId: newId() } });
  expect(await wanted()).toBeUndefined();
});

it('DATA-27 a worker that lost its host registers no spare', async () => {
  const project = await createProject(fixture);
  const lost = { ...fixture.lease, epoch: fixture.lease.epoch - 1 };
  await expect(spareIn(project.projectId, lost)).rejects.toMatchObject({ code: 'host.lease_lost' });
  await expect(spares.appendHostEvents(lost, project.projectId, [])).rejects.toMatchObject({ code: 'host.lease_lost' });
});
