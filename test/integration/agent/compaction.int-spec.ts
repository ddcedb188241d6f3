// Compacting a conversation with the agent's own means: warm, resumed, and where there is nothing to compact.
import { newId } from '#kernel';
import { type ServiceProcess, spawnService } from '#testing';
import { createAgentFixture, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;
let worker: ServiceProcess;

beforeAll(async () => {
  fixture = await createAgentFixture();
  worker = startWorker();
}, 120_000);
afterAll(async () => {
  await worker.kill();
  await fixture.close();
}, 60_000);

const startWorker = (): ServiceProcess => spawnService({ name: 'worker', env: fixture.environment });

async function compact(sessionId: string | null) {
  const request = { userId: fixture.user.userId, timeoutMs: 60_000, correlationId: newId() };
  const { result, announcement } = await fixture.sessions.compact(String(sessionId), request);
  await fixture.announcer.announce(announcement);
  return result.run;
}

it('SES-8 compacts a conversation in its live process, and its agent remembers', async () => {
  const { projectId } = await fixture.newProject();
  await fixture.prompt(projectId, 'demo:remember the blue key');
  const before = await fixture.ended((await fixture.prompt(projectId, 'demo:say two')).runId, 60_000);
  const run = await compact(before.sessionId);
  expect(run).toMatchObject({ kind: 'compact', lane: 'main', sessionId: before.sessionId });
  expect(await fixture.ended(run.runId)).toMatchObject({ status: 'succeeded', processId: before.processId });
  const events = await fixture.messages(projectId, run.runId);
  expect(events.filter(({ type }) => type === 'session.compacted')).toMatchObject([
    { sessionId: before.sessionId, payload: { session_id: before.sessionId, trigger: 'manual' } },
  ]);
  expect(events.filter(({ type }) => type === 'message.user')).toEqual([]);
  const after = await fixture.ended((await fixture.prompt(projectId, 'demo:recall')).runId);
  expect(after).toMatchObject({ status: 'succeeded', processId: before.processId });
  expect(after.resultText).toContain('the blue key');
}, 90_000);

it('SES-8 says that there is nothing to compact, before and after asking the agent', async () => {
  const { projectId } = await fixture.newProject();
  const { result: session } = await fixture.sessions.create({ projectId, userId: fixture.user.userId });
  await expect(compact(session.sessionId)).rejects.toMatchObject({ code: 'session.nothing_to_compact' });
  // It may have something when its turn comes.
  const { runId, sessionId } = await fixture.prompt(projectId, 'demo:hang');
  const waiting = await compact(sessionId);
  await fixture.cancel(runId);
  const run = await fixture.ended(waiting.runId, 60_000);
  expect([run.status, run.errorCode]).toEqual(['failed', 'session.nothing_to_compact']);
}, 90_000);

it('SES-8 compacts in a resumed process, and under a worker that came after the one that was asked', async () => {
  const { projectId } = await fixture.newProject();
  const options = { append_system_prompt: 'be brief' };
  const before = await fixture.ended((await fixture.prompt(projectId, 'demo:remember a', { options })).runId, 60_000);
  await fixture.ended((await fixture.prompt(projectId, 'demo:say b')).runId, 60_000);
  await worker.kill('SIGKILL');
  const run = await compact(before.sessionId);
  worker = startWorker();
  expect(await fixture.ended(run.runId, 60_000)).toMatchObject({ status: 'succeeded' });
  const compacted = (await fixture.eventsOf(projectId)).filter(({ type }) => type === 'session.compacted');
  expect(compacted).toHaveLength(1);
}, 120_000);
