// Questions of the real CLI to people, and their answers.
import { until } from '#testing';
import { createAgentFixture, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture({ env: { GANTRY_MAX_CONCURRENT_RUNS: '1' } });
  await fixture.startWorker();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

const eventTypes = async (projectId: string, runId: string): Promise<string[]> =>
  (await fixture.messages(projectId, runId)).map(({ type }) => type);

const byNumber = (a: number, b: number): number => a - b;

/** What a command prints in the project's workspace. */
async function shell(projectId: string, script: string): Promise<string> {
  const { runId } = await fixture.command(projectId, { shell: script });
  await fixture.ended(runId);
  return (await fixture.output(runId)).stdout;
}

describe('a question', () => {
  it('AGT-22 is asked with the tool’s input; allowed, the turn goes on', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash touch made.txt');
    const question = await fixture.question(projectId);
    expect(question).toMatchObject({ runId, toolName: 'Bash', input: { command: 'touch made.txt' }, status: 'open' });
    expect(await fixture.runs.find(runId)).toMatchObject({ status: 'waiting' });
    await fixture.answer(question, { behavior: 'allow' });
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    const types = await eventTypes(projectId, runId);
    const order = ['message.assistant', 'permission.requested', 'permission.closed', 'message.tool_result'];
    expect(order.map((type) => types.indexOf(type))).toEqual(order.map((type) => types.indexOf(type)).sort(byNumber));
    expect(await shell(projectId, 'ls made.txt')).toBe('made.txt\n');
  }, 60_000);

  it('AGT-22 denied, the agent hears why and goes on', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash touch never.txt');
    await fixture.answer(await fixture.question(projectId), { behavior: 'deny', message: 'Not on a Friday.' });
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(await fixture.messages(projectId, runId))).toContain('Not on a Friday.');
    expect(await shell(projectId, 'ls')).toBe('');
  }, 60_000);

  it('AGT-22 can be answered with another input', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash touch wrong.txt');
    const question = await fixture.question(projectId);
    const updatedInput = { ...question.input, command: 'touch right.txt' };
    await fixture.answer(question, { behavior: 'allow', updatedInput });
    await fixture.ended(runId);
    expect(await shell(projectId, 'ls')).toBe('right.txt\n');
  }, 60_000);

  it('AGT-25 can be answered for all that follow, by what the agent offered', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:write one.txt 1\ndemo:write two.txt 2');
    const question = await fixture.question(projectId);
    const mode = question.suggestions.filter((one) => (one as { type?: string }).type === 'setMode');
    expect(mode).toHaveLength(1);
    await fixture.answer(question, { behavior: 'allow', suggestions: mode });
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    const types = await eventTypes(projectId, runId);
    expect(types.filter((type) => type === 'permission.requested')).toHaveLength(1);
    expect(await shell(projectId, 'cat one.txt two.txt')).toBe('12');
    const next = await fixture.prompt(projectId, 'demo:write three.txt 3');
    await fixture.ended(next.runId);
    expect(await eventTypes(projectId, next.runId)).not.toContain('permission.requested');
    expect((await fixture.sessionOf(next.sessionId)).permissionMode).toBe('acceptEdits');
  }, 60_000);

  it('AGT-22 may be one of several at once, answered in any order', async () => {
    const { projectId } = await fixture.newProject();
    const files = ['/etc/hostname', '/etc/hosts', '/etc/passwd'];
    const reads = files.map((path) => `demo:tool Read ${JSON.stringify({ file_path: path })}`);
    const { runId } = await fixture.prompt(projectId, ['demo:together', ...reads].join('\n'));
    const asked = await until('all are asked', async () => {
      const open = await fixture.questions.openOf(projectId);
      return open.length === files.length ? open : undefined;
    });
    expect(asked.map(({ input }) => input['file_path']).sort()).toEqual(files);
    for (const question of asked.reverse()) {
      expect(await fixture.runs.find(runId)).toMatchObject({ status: 'waiting' });
      await fixture.answer(question, { behavior: 'allow' });
    }
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);

  it('AGT-22 leaves the slot of the host to others, and costs the run no time', async () => {
    const [asking, working] = [await fixture.newProject(), await fixture.newProject()];
    const { runId } = await fixture.prompt(asking.projectId, 'demo:bash touch x');
    const question = await fixture.question(asking.projectId);
    const other = await fixture.ended((await fixture.prompt(working.projectId, 'demo:slow 40 50')).runId);
    expect(other.status).toBe('succeeded');
    await fixture.answer(question, { behavior: 'allow' });
    const run = await fixture.ended(runId);
    expect(run.status).toBe('succeeded');
    expect(run.activeMs).toBeLessThan((run.durationMs ?? 0) - 1_500);
  }, 60_000);

  it('AGT-26 is closed when the run is cancelled', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash touch x');
    const question = await fixture.question(projectId);
    await fixture.cancel(runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
    expect((await fixture.questions.find(question.requestId))?.status).toMatch(/^(cancelled|run_ended)$/);
    expect(await shell(projectId, 'ls')).toBe('');
  }, 60_000);
});
