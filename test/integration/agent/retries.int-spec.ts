// Turns that are begun again inside their run: an overloaded model, a usage limit, under one worker and under the next.
import { type ServiceProcess, spawnService, until } from '#testing';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;
let worker: ServiceProcess;

beforeAll(async () => {
  fixture = await createAgentFixture({
    env: { GANTRY_MODEL_RETRY_MS: '300', GANTRY_AGENT_API_RETRIES: '0', GANTRY_MODEL_RETRIES: '2' },
  });
  worker = startWorker();
}, 120_000);
afterAll(async () => {
  await worker.kill();
  await fixture.close();
}, 60_000);

const startWorker = (): ServiceProcess => spawnService({ name: 'worker', env: fixture.environment });
const updates = async (projectId: string, runId: string) =>
  (await fixture.messages(projectId, runId)).filter(({ type }) => type === 'run.updated').map(({ payload }) => payload);

describe('an overloaded model', () => {
  it('SES-10 is asked again in the same conversation, which has the prompt once', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:error 529 2\ndemo:echo');
    const run = await fixture.ended(runId, 60_000);
    expect(run).toMatchObject({ status: 'succeeded', attempts: 3, resumeAt: null });
    expect((JSON.parse(run.resultText ?? '') as { prompts: number }).prompts).toBe(1);
    expect((await updates(projectId, runId)).filter((payload) => 'error' in payload)).toMatchObject([
      { attempt: 2, wait_ms: expect.any(Number) as number, error: { code: 'agent.model_error' } },
      { attempt: 3, wait_ms: expect.any(Number) as number },
    ]);
    expect(await fixture.processesOf(projectId)).toHaveLength(1);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId);
    expect(next).toMatchObject({ status: 'succeeded', processId: run.processId });
  }, 90_000);

  it('SES-10 is given up after as many times as is set, and never asked again after a tool ran', async () => {
    const { projectId } = await fixture.newProject();
    const often = await fixture.ended((await fixture.prompt(projectId, 'demo:error 529')).runId, 60_000);
    expect(often).toMatchObject({ status: 'failed', errorCode: 'agent.model_error', attempts: 3 });
    const prompt = 'demo:write made.txt x\ndemo:error 529 1\ndemo:say never';
    const { runId } = await fixture.prompt(projectId, prompt, { options: { permission_mode: 'acceptEdits' } });
    expect(await fixture.ended(runId, 60_000)).toMatchObject({ status: 'failed', attempts: 1 });
  }, 90_000);

  it('SES-10 is asked again by the worker that comes after one that died while it waited', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:error 529 1\ndemo:say through');
    await fixture.when(runId, ({ attempts }) => attempts === 2);
    await worker.kill('SIGKILL');
    worker = startWorker();
    expect(await fixture.ended(runId, 60_000)).toMatchObject({
      status: 'succeeded',
      resultText: 'through',
      attempts: 2,
    });
    expect(textOf(await fixture.messages(projectId, runId)).match(/through/g)).toHaveLength(1);
  }, 90_000);
});

describe('a usage limit', () => {
  it('SES-11 holds the lane until it is over, without a slot, over a change of workers, and goes on by itself', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:limit 6\ndemo:say through');
    const behind = await fixture.prompt(projectId, 'demo:say behind');
    const waiting = await fixture.when(runId, ({ status }) => status === 'waiting');
    expect(waiting).toMatchObject({ waitReason: 'usage_limit', resumeAt: expect.any(Date) as Date });
    expect(await updates(projectId, runId)).toMatchObject([
      { status: 'waiting', wait_reason: 'usage_limit', error: { code: 'agent.usage_limit' } },
    ]);
    await worker.kill('SIGKILL');
    worker = startWorker();
    expect(await fixture.runs.find(behind.runId)).toMatchObject({ status: 'queued' });
    const run = await fixture.ended(runId, 60_000);
    expect(run).toMatchObject({ status: 'succeeded', resultText: 'through', waitReason: null });
    // What it waited is in its duration and not in its active time.
    expect((run.durationMs ?? 0) - run.activeMs).toBeGreaterThan(4_000);
    expect(await fixture.ended(behind.runId, 60_000)).toMatchObject({ status: 'succeeded' });
  }, 120_000);

  it('SES-11 can be cancelled and interrupted', async () => {
    const { projectId } = await fixture.newProject();
    for (const how of ['cancelled', 'interrupted'] as const) {
      const { runId } = await fixture.prompt(projectId, `demo:limit 3000\ndemo:say ${how}`);
      await fixture.when(runId, ({ status }) => status === 'waiting');
      if (how === 'cancelled') await fixture.cancel(runId);
      else await fixture.steer('interrupt', runId);
      expect(await fixture.ended(runId, 30_000)).toMatchObject({ status: how });
    }
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId, 30_000);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'on' });
  }, 90_000);

  it('SES-11 ends the run where the project wants that', async () => {
    const { projectId } = await fixture.newProject();
    await fixture.projects.update(projectId, { settings: { on_usage_limit: 'fail' } });
    const { runId } = await fixture.prompt(projectId, 'demo:limit 3000');
    expect(await fixture.ended(runId, 60_000)).toMatchObject({ status: 'failed', errorCode: 'agent.usage_limit' });
    const finished = await until('it is told', async () =>
      (await fixture.messages(projectId, runId)).find(({ type }) => type === 'run.finished'),
    );
    expect(finished.payload['error']).toMatchObject({ details: { reset_at: expect.stringMatching(/Z$/) as string } });
  }, 90_000);
});
