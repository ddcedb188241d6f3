// Steering the real CLI in the middle of a turn: interrupt, pause and resume, another model or permission mode.
import { until } from '#testing';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture();
  await fixture.startWorker();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

const said = async (projectId: string, runId: string) => textOf(await fixture.messages(projectId, runId));
const speaks = (projectId: string, chars = 40) =>
  until('it speaks', async () => (await fixture.bus.partials(projectId)).find(({ text }) => text.length > chars));

describe('an interrupt', () => {
  it('SES-2 ends an answer that is being written; what was said stays, and the same process goes on', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 2000 20');
    await speaks(projectId);
    await fixture.steer('interrupt', runId);
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'interrupted', errorCode: 'run.interrupted' });
    expect(await said(projectId, runId)).toMatch(/^w0 w1 w2 /);
    expect(await fixture.sessionOf(run.sessionId)).toMatchObject({ status: 'paused' });
    expect((await fixture.processesOf(projectId)).map(({ state }) => state)).toEqual(['live']);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'on', processId: run.processId });
    expect(await fixture.sessionOf(run.sessionId)).toMatchObject({ status: 'completed' });
  }, 60_000);

  it('SES-2 ends a tool that runs, and withdraws a question that is open', async () => {
    const { projectId } = await fixture.newProject();
    const tool = await fixture.prompt(projectId, 'demo:bash echo begun > begun; sleep 1000');
    await fixture.answer(await fixture.question(projectId), { behavior: 'allow' });
    await fixture.when(tool.runId, ({ status }) => status === 'running');
    await fixture.steer('interrupt', tool.runId);
    expect(await fixture.ended(tool.runId)).toMatchObject({ status: 'interrupted' });

    const asking = await fixture.prompt(projectId, 'demo:bash touch asked');
    const question = await fixture.question(projectId);
    await fixture.steer('interrupt', asking.runId);
    expect(await fixture.ended(asking.runId)).toMatchObject({ status: 'interrupted' });
    expect((await fixture.questions.find(question.requestId))?.status).toMatch(/cancelled|run_ended/);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'on' });
  }, 60_000);

  it('SES-2 of a run that waits for its slot ends it before it begins', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 2000 20');
    await fixture.steer('interrupt', runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'interrupted' });
  }, 60_000);
});

describe('a pause', () => {
  it('SES-3 holds an agent still while it writes, and it goes on where it was', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 150 30');
    await speaks(projectId);
    await fixture.steer('pause', runId);
    const paused = await fixture.when(runId, ({ status }) => status === 'paused');
    expect(await fixture.sessionOf(paused.sessionId)).toMatchObject({ status: 'paused' });
    const length = async () => (await fixture.bus.partials(projectId))[0]?.text.length;
    let before: number | undefined = -1;
    await until('it is silent', async () => {
      const last = before;
      before = await length();
      return before === last;
    });
    await fixture.steer('resume', runId);
    await fixture.when(runId, ({ status }) => status === 'running');
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(await said(projectId, runId)).toBe(Array.from({ length: 150 }, (_, index) => `w${index}`).join(' '));
  }, 60_000);

  it('SES-3 of a run that waits for a person is refused; one that is paused can be cancelled', async () => {
    const { projectId } = await fixture.newProject();
    const asking = await fixture.prompt(projectId, 'demo:bash touch asked');
    await fixture.question(projectId);
    await expect(fixture.steer('pause', asking.runId)).rejects.toMatchObject({
      code: 'run.not_active',
      details: { status: 'waiting' },
    });
    await fixture.cancel(asking.runId);
    await fixture.ended(asking.runId);
    const { runId } = await fixture.prompt(projectId, 'demo:slow 2000 20');
    await speaks(projectId);
    await fixture.steer('pause', runId);
    await fixture.when(runId, ({ status }) => status === 'paused');
    await fixture.cancel(runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
  }, 60_000);
});

describe('a setting in the middle of a turn', () => {
  it('SES-4 reaches the turn and the next prompt', async () => {
    const { projectId } = await fixture.newProject();
    const { runId, sessionId } = await fixture.prompt(
      projectId,
      'demo:bash sleep 0.2\ndemo:write made.txt made\ndemo:echo',
    );
    const question = await fixture.question(projectId);
    const { announcement } = await fixture.sessions.update(String(sessionId), fixture.user.userId, {
      model: 'sonnet',
      permissionMode: 'acceptEdits',
    });
    await fixture.announcer.announce(announcement);
    await until('the agent was told', async () => {
      const { db } = fixture.database;
      return (
        (await db.run((client) => client.intent.count({ where: { runId, kind: 'setting', appliedAt: null } }))) === 0
      );
    });
    await fixture.answer(question, { behavior: 'allow' });
    const run = await fixture.ended(runId);
    // Writing a file is not asked about any more.
    expect(run).toMatchObject({ status: 'succeeded' });
    expect((JSON.parse(run.resultText ?? '') as { model: string }).model).toMatch(/sonnet/);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:write more.txt more\ndemo:echo')).runId);
    expect((JSON.parse(next.resultText ?? '') as { model: string }).model).toMatch(/sonnet/);
    expect(next.processId).toBe(run.processId);
  }, 60_000);
});
