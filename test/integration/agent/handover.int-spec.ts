// A live agent changes hands: one worker lets go, another takes over, and nobody notices. The same process, every event once.
import type { EventRecord } from '#domain';
import { instanceId } from '#persistence';
import { until } from '#testing';
import { DockerEngineProbe } from '../sandbox/docker-engine.probe.js';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

/** Each event of the agent's is there once, by the agent's own id. */
function expectOnce(events: EventRecord[]): void {
  const ids = events.flatMap(({ payload }) => (payload['agent'] as { uuid?: string } | undefined)?.uuid ?? []);
  expect(new Set(ids).size).toBe(ids.length);
}

async function shell(projectId: string, script: string): Promise<string> {
  const { runId } = await fixture.command(projectId, { shell: script });
  await fixture.ended(runId);
  return (await fixture.output(runId)).stdout;
}

const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');

describe('a live agent', () => {
  it('AGT-36 that is writing goes on under the next worker, who shows the message from its beginning', async () => {
    let worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 120 20');
    for (const seen of [' w10 ', ' w40 ', ' w80 ']) {
      // On a slow machine the answer may be complete by then.
      const partial = await until('it writes', async () =>
        (await fixture.runs.find(runId))?.finishedAt === null
          ? (await fixture.bus.partials(projectId)).find(({ text }) => text.includes(seen))
          : null,
      );
      if (partial !== null)
        expect(partial).toMatchObject({ offset: 0, text: expect.stringMatching(/^w0 w1 w2 /) as string });
      await worker.close();
      worker = await fixture.startWorker();
    }
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', resultText: words(120) });
    const events = await fixture.messages(projectId, runId);
    expect(textOf(events)).toBe(words(120));
    expectOnce(events);
    expect(await fixture.processesOf(projectId)).toHaveLength(1);
    await worker.close();
  }, 120_000);

  it('AGT-36 that waits for an answer is given it by the next worker, and asks nothing twice', async () => {
    let worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash echo once >> log ;; echo twice >> log');
    const first = await fixture.question(projectId);
    await worker.close();
    worker = await fixture.startWorker();
    await fixture.answer(first, { behavior: 'allow' });
    const second = await fixture.question(projectId, ({ requestId }) => requestId !== first.requestId);
    await worker.close();
    // Answered while no worker is there.
    await fixture.answer(second, { behavior: 'allow' });
    worker = await fixture.startWorker();
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(await shell(projectId, 'cat log')).toBe('once\ntwice\n');
    const events = await fixture.messages(projectId, runId);
    expect(events.filter(({ type }) => type === 'permission.requested')).toHaveLength(2);
    expectOnce(events);
    expect(await fixture.processesOf(projectId)).toHaveLength(1);
    await worker.close();
  }, 120_000);

  it('AGT-36 whose tool runs meanwhile has run it once', async () => {
    let worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const options = { dangerously_skip_permissions: true };
    const { runId } = await fixture.prompt(projectId, 'demo:bash echo a >> log; sleep 2; echo b >> log', { options });
    await until('the tool runs', async () =>
      (await fixture.messages(projectId, runId)).some(({ payload }) => JSON.stringify(payload).includes('"tool_use"')),
    );
    await worker.close();
    worker = await fixture.startWorker();
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(await shell(projectId, 'cat log')).toBe('a\nb\n');
    await worker.close();
  }, 120_000);

  it('AGT-36 that answered while no worker was there is heard, and pays once', async () => {
    let worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 20 50');
    await until('it writes', async () => (await fixture.bus.partials(projectId)).length > 0);
    await worker.close();
    await until('it has answered', () => fixture.model.requests().every(({ outcome }) => outcome === 'answered'));
    worker = await fixture.startWorker();
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', resultText: words(20) });
    const [process] = await fixture.processesOf(projectId);
    expect(run.costUsd).toBeCloseTo(process?.costUsd ?? 0, 6);
    await worker.close();
  }, 120_000);

  it('AGT-36 that is warm serves the next prompt under another worker', async () => {
    let worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember the hand-over')).runId);
    await worker.close();
    worker = await fixture.startWorker();
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall')).runId);
    expect(second).toMatchObject({ status: 'succeeded', processId: first.processId });
    expect(second.resultText).toContain('the hand-over');
    await worker.close();
  }, 120_000);

  it('AGT-37 that died with its container ends its run as sandbox.lost, and the conversation goes on', async () => {
    const worker = await fixture.startWorker();
    const { projectId } = await fixture.newProject();
    const { runId, sessionId } = await fixture.prompt(projectId, 'demo:say before\ndemo:bash touch x');
    await fixture.question(projectId);
    const [sandbox] = (await fixture.runtime.list()).filter((one) => one.projectId === projectId);
    await new DockerEngineProbe(await instanceId(fixture.database.db)).kill(sandbox?.sandboxId ?? '');
    const run = await fixture.ended(runId, 60_000);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'sandbox.lost' });
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:echo')).runId);
    expect(next).toMatchObject({ status: 'succeeded', sessionId });
    expect((JSON.parse(next.resultText ?? '') as { prompts: number }).prompts).toBeGreaterThan(1);
    await worker.close();
  }, 120_000);
});
