// Prompts through the real CLI in a real sandbox: answers, live text, and the life of a conversation.
import type { DeltaFrame, LiveFrame } from '#domain';
import { until } from '#testing';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture();
  await fixture.startWorker();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

const deltasOf = (frames: LiveFrame[]): DeltaFrame[] =>
  frames.flatMap((frame) => (frame.kind === 'delta' ? [frame.delta] : []));

describe('a prompt', () => {
  it('AGT-28 is answered by the real CLI: answer, usage, cost and messages are stored', async () => {
    const { projectId } = await fixture.newProject();
    const { runId, sessionId } = await fixture.prompt(projectId, 'demo:say Hello from the demo');
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', resultText: 'Hello from the demo', errorCode: null });
    expect(run.costUsd).toBeGreaterThan(0);
    expect(run.usage).toMatchObject({ output_tokens: expect.any(Number) as number });
    const events = await fixture.messages(projectId, runId);
    expect(textOf(events)).toBe('Hello from the demo');
    expect(events.map(({ type }) => type)).toEqual([
      'message.user',
      'run.queued',
      'run.started',
      'session.updated',
      'sandbox.started',
      'session.updated',
      'message.system',
      'message.assistant',
      'message.result',
      'session.updated',
      'run.finished',
    ]);
    expect(events.find(({ type }) => type === 'message.result')?.payload).toMatchObject({
      subtype: 'success',
      is_error: false,
      cost_usd: run.costUsd,
      agent: { type: 'result' },
    });
    const session = await fixture.sessionOf(sessionId);
    expect(session).toMatchObject({ status: 'completed', costUsd: run.costUsd });
    expect(session.agentSessionId).toMatch(/^[0-9a-f-]{36}$/);
  }, 60_000);

  it('AGT-21 streams its text by offset before the event, and leaves nothing behind', async () => {
    const { projectId } = await fixture.newProject();
    const frames = await fixture.frames(projectId);
    const { runId } = await fixture.prompt(projectId, 'demo:think a moment\ndemo:slow 30 20');
    await until('text is kept for those who join', async () => {
      const [partial] = await fixture.bus.partials(projectId);
      return partial !== undefined && partial.offset === 0 && partial.text.length > 0;
    });
    await fixture.ended(runId);
    const deltas = deltasOf(frames).filter(({ blockType }) => blockType === 'text');
    let text = '';
    for (const delta of deltas) {
      expect(delta).toMatchObject({ runId, projectId, offset: text.length, messageId: deltas[0]?.messageId });
      text += delta.text;
    }
    expect(deltas.length).toBeGreaterThan(5);
    const [said] = (await fixture.messages(projectId, runId)).filter(
      ({ payload }) => payload['message_id'] === deltas[0]?.messageId && payload['block_index'] === 1,
    );
    expect(textOf(said === undefined ? [] : [said])).toBe(text);
    expect(deltasOf(frames).some(({ blockType }) => blockType === 'thinking')).toBe(true);
    await until('nothing is kept', async () => (await fixture.bus.partials(projectId)).length === 0);
  }, 60_000);

  it('AGT-28 may be a command of the CLI itself', async () => {
    const { projectId } = await fixture.newProject();
    const run = await fixture.ended((await fixture.prompt(projectId, '/context')).runId);
    expect(run).toMatchObject({ status: 'succeeded', resultText: expect.stringContaining('Context Usage') as string });
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'on', processId: run.processId });
  }, 60_000);

  it('AGT-4 stores tool calls and their results', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:bash echo from the tool', {
      options: { dangerously_skip_permissions: true },
    });
    await fixture.ended(runId);
    const events = await fixture.messages(projectId, runId);
    const [result] = events.filter(({ type }) => type === 'message.tool_result');
    expect(JSON.stringify(result?.payload)).toContain('from the tool');
    const asked = events.find(({ payload }) => JSON.stringify(payload).includes('"tool_use"'));
    expect(asked?.seq).toBeLessThan(result?.seq ?? 0);
  }, 60_000);
});

describe('a conversation', () => {
  it('AGT-29 goes on in the same process, and each run costs its own share of it', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember the blue door')).runId);
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall')).runId);
    expect(second.resultText).toContain('the blue door');
    expect(second.processId).toBe(first.processId);
    const [process] = await fixture.processesOf(projectId);
    expect((first.costUsd ?? 0) + (second.costUsd ?? 0)).toBeCloseTo(process?.costUsd ?? 0, 5);
    expect(second.costUsd).toBeGreaterThan(0);
  }, 60_000);

  it('AGT-30 changes model and permission mode in the live process', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember tea')).runId);
    const options = { model: 'haiku', permission_mode: 'acceptEdits' };
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:echo', { options })).runId);
    expect(second.processId).toBe(first.processId);
    expect(JSON.parse(second.resultText ?? '')).toMatchObject({ model: expect.stringContaining('haiku') as string });
    const inits = (await fixture.messages(projectId, second.runId)).filter(
      ({ payload }) => payload['subtype'] === 'init',
    );
    expect(inits[0]?.payload['agent']).toMatchObject({ permissionMode: 'acceptEdits' });
    const third = await fixture.ended((await fixture.prompt(projectId, 'demo:echo')).runId);
    expect(third.resultText).not.toContain('haiku');
  }, 60_000);

  it('AGT-31 goes on in another process when launch options change, and pays only for what is new', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember seven')).runId);
    const options = { append_system_prompt: 'Be brief.' };
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall', { options })).runId);
    expect(second.resultText).toContain('seven');
    expect(second.processId).not.toBe(first.processId);
    expect(second.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeLessThan((first.costUsd ?? 0) * 1.5);
    const states = (await fixture.processesOf(projectId)).map(({ processId, state }) => [processId, state]);
    expect(states).toEqual([
      [first.processId, 'exited'],
      [second.processId, 'live'],
    ]);
  }, 60_000);

  it('AGT-12 gives a run with a budget a process that ends with it', async () => {
    const { projectId } = await fixture.newProject();
    const options = { max_budget_usd: 5 };
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember nine', { options })).runId);
    await until('it has ended', async () => (await fixture.processesOf(projectId))[0]?.state === 'exited');
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall', { options })).runId);
    expect(second.resultText).toContain('nine');
    expect(second.processId).not.toBe(first.processId);
  }, 60_000);

  it('AGT-32 starts afresh after a reset', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember a secret')).runId);
    await fixture.runs.resetSession(projectId);
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall')).runId);
    expect(second.resultText).not.toContain('a secret');
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.processId).not.toBe(first.processId);
  }, 60_000);

  it('AGT-14 says so when the agent has lost it, and does not begin another in its place', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember me')).runId);
    const wipe = await fixture.command(projectId, { shell: 'rm -rf ~/.claude/projects' });
    await fixture.ended(wipe.runId);
    const options = { append_system_prompt: 'so that a new process is needed' };
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:recall', { options })).runId);
    expect(second).toMatchObject({ status: 'failed', errorCode: 'agent.conversation_lost' });
    expect(second.sessionId).toBe(first.sessionId);
    expect(await fixture.sessionOf(second.sessionId)).toMatchObject({ status: 'failed' });
  }, 60_000);

  it('AGT-5 tells what an agent did by itself between two prompts, and answers the second', async () => {
    const { projectId } = await fixture.newProject();
    const options = { dangerously_skip_permissions: true };
    const tool = JSON.stringify({ command: 'sleep 1; echo done', run_in_background: true, description: 'wait' });
    const first = await fixture.ended((await fixture.prompt(projectId, `demo:tool Bash ${tool}`, { options })).runId);
    const before = fixture.model.requests().length;
    await until('the agent has spoken to the model by itself', () => fixture.model.requests().length > before);
    const second = await fixture.ended((await fixture.prompt(projectId, 'demo:say mine', { options })).runId);
    expect(second).toMatchObject({ status: 'succeeded', resultText: 'mine', processId: first.processId });
    const subtypes = (await fixture.messages(projectId, second.runId)).map(({ payload }) => payload['subtype']);
    expect(subtypes).toContain('background_result');
  }, 60_000);
});

describe('warm agents', () => {
  it('AGT-39 that end before they took the prompt are replaced', async () => {
    const { projectId } = await fixture.newProject();
    const first = await fixture.ended((await fixture.prompt(projectId, 'demo:remember the ladder')).runId);
    const signal = async (name: string): Promise<void> => {
      const { runId } = await fixture.command(projectId, { shell: `pkill -${name} -x claude`, lane: 'signals' });
      await fixture.ended(runId);
    };
    await signal('STOP');
    const { runId } = await fixture.prompt(projectId, 'demo:recall');
    await fixture.when(runId, ({ processId }) => processId === first.processId);
    await signal('KILL');
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', resultText: expect.stringContaining('the ladder') as string });
    expect(run.processId).not.toBe(first.processId);
    const asked = fixture.model.requests().filter(({ body }) => JSON.stringify(body).includes('demo:recall'));
    expect(asked.length).toBeGreaterThan(0);
    expect((await fixture.processesOf(projectId)).map(({ state }) => state)).toEqual(['exited', 'live']);
  }, 60_000);

  it('AGT-33 end when they were idle for too long, and the conversation goes on with another', async () => {
    const other = await createAgentFixture();
    try {
      await other.startWorker({ GANTRY_WARM_AGENT_IDLE_MS: '500' });
      const { projectId } = await other.newProject();
      const first = await other.ended((await other.prompt(projectId, 'demo:remember rain')).runId);
      await until('it has ended', async () => (await other.processesOf(projectId))[0]?.state === 'exited', 30_000);
      const second = await other.ended((await other.prompt(projectId, 'demo:recall')).runId);
      expect(second.resultText).toContain('rain');
      expect(second.processId).not.toBe(first.processId);
    } finally {
      await other.close();
    }
  }, 90_000);

  it('AGT-33 are kept only in the number that is allowed, the one idle for longest going first', async () => {
    const other = await createAgentFixture();
    try {
      await other.startWorker({ GANTRY_MAX_WARM_AGENTS: '1' });
      const [one, two] = [await other.newProject(), await other.newProject()];
      await other.ended((await other.prompt(one.projectId, 'demo:say one')).runId);
      await other.ended((await other.prompt(two.projectId, 'demo:say two')).runId);
      await until(
        'the first has ended',
        async () => (await other.processesOf(one.projectId))[0]?.state === 'exited',
        30_000,
      );
      expect((await other.processesOf(two.projectId))[0]?.state).toBe('live');
    } finally {
      await other.close();
    }
  }, 90_000);
});
