// Torture: the worker's process is killed again and again within one turn of the real CLI. Every command runs exactly once, every
// event is stored once, and what is stored is what the CLI itself wrote down.
import type { PermissionRecord } from '#domain';
import { type ServiceProcess, spawnService, until } from '#testing';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

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

async function killWorker(): Promise<void> {
  await worker.kill('SIGKILL');
  worker = startWorker();
}

/** When in the life of a question the worker dies. */
const DEATHS = ['asked', 'answered', 'running', 'done', 'asked and answered alone'] as const;
const ROUNDS = 2;

/** The lines that the command of this number has written so far. */
async function logged(projectId: string): Promise<string[]> {
  const { runId } = await fixture.command(projectId, { shell: 'cat log 2>/dev/null || true', lane: 'looking' });
  await fixture.ended(runId, 60_000);
  return (await fixture.output(runId)).stdout.split('\n').filter((line) => line !== '');
}

async function dieOnce(projectId: string, question: PermissionRecord, how: (typeof DEATHS)[number]): Promise<void> {
  const allow = () => fixture.answer(question, { behavior: 'allow' });
  switch (how) {
    case 'asked':
      await killWorker();
      return allow();
    case 'answered':
      await allow();
      return killWorker();
    case 'running':
      await allow();
      await until('the run goes on', async () => (await fixture.runs.find(question.runId))?.status === 'running');
      return killWorker();
    case 'done':
      await allow();
      await until('the result is stored', async () =>
        (await fixture.messages(projectId, question.runId)).some(({ type, payload }) => {
          const ids = payload['tool_use_ids'];
          return type === 'message.tool_result' && Array.isArray(ids) && ids.includes(question.toolUseId);
        }),
      );
      return killWorker();
    case 'asked and answered alone':
      await worker.kill('SIGKILL');
      await allow();
      worker = startWorker();
  }
}

/** The texts and tool uses of the assistant in the CLI's own file of the conversation, in order. */
async function transcriptOf(projectId: string): Promise<{ text: string; toolUses: string[] }> {
  const { runId } = await fixture.command(projectId, { shell: 'cat ~/.claude/projects/*/*.jsonl' });
  await fixture.ended(runId, 60_000);
  interface Entry {
    type: string;
    message?: { content: { type: string; text?: string; id?: string }[] };
  }
  const entries = (await fixture.output(runId)).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as Entry);
  const blocks = entries.filter(({ type }) => type === 'assistant').flatMap(({ message }) => message?.content ?? []);
  return {
    text: blocks.map(({ text }) => text ?? '').join(''),
    toolUses: blocks.flatMap(({ type, id }) => (type === 'tool_use' && id !== undefined ? [id] : [])),
  };
}

describe('a worker that is killed', () => {
  it('AGT-38 at every point of a turn costs nothing: each command once, each event once, the text as the CLI has it', async () => {
    const { projectId } = await fixture.newProject();
    const deaths = Array.from({ length: ROUNDS }, () => DEATHS).flat();
    const commands = deaths.map((_, index) => `echo ${index} >> log; sleep 0.${index % 5}; echo done-${index}`);
    const { runId } = await fixture.prompt(projectId, `demo:think hard\ndemo:bash ${commands.join(' ;; ')}`, {
      timeoutMs: 600_000,
    });
    const seen = new Set<string>();
    for (const how of deaths) {
      const question = await fixture.question(projectId, ({ requestId }) => !seen.has(requestId));
      seen.add(question.requestId);
      await dieOnce(projectId, question, how);
    }
    const run = await fixture.ended(runId, 120_000);
    expect(run).toMatchObject({ status: 'succeeded', errorCode: null });
    expect(await logged(projectId)).toEqual(deaths.map((_, index) => String(index)));

    const events = await fixture.messages(projectId, runId);
    const uuids = events.flatMap(({ payload }) => (payload['agent'] as { uuid?: string } | undefined)?.uuid ?? []);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(events.filter(({ type }) => type === 'permission.requested')).toHaveLength(deaths.length);
    expect(events.filter(({ type }) => type === 'message.result')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'run.started').length).toBeGreaterThanOrEqual(deaths.length);
    expect(await fixture.processesOf(projectId)).toHaveLength(1);

    const own = await transcriptOf(projectId);
    expect(textOf(events)).toBe(own.text);
    const asked = events
      .filter(({ type }) => type === 'message.assistant')
      .flatMap(({ payload }) => toolUsesOf(payload));
    expect(asked).toEqual(own.toolUses);
  }, 300_000);

  it('AGT-38 while the answer streams loses no word of it', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 400 20');
    for (const word of [' w20 ', ' w120 ', ' w220 ']) {
      // On a machine that is slow to start a worker the answer may be complete by then: that is a point to die at, too.
      await until(
        'it writes',
        async () =>
          (await fixture.bus.partials(projectId)).some(({ text }) => text.includes(word)) ||
          (await fixture.runs.find(runId))?.finishedAt !== null,
        30_000,
      );
      await killWorker();
    }
    const run = await fixture.ended(runId, 60_000);
    const words = Array.from({ length: 400 }, (_, index) => `w${index}`).join(' ');
    expect(run).toMatchObject({ status: 'succeeded', resultText: words });
    expect(textOf(await fixture.messages(projectId, runId))).toBe(words);
  }, 120_000);
});

const toolUsesOf = (payload: Record<string, unknown>): string[] =>
  (payload['agent'] as { message: { content: { type: string; id?: string }[] } }).message.content.flatMap(
    ({ type, id }) => (type === 'tool_use' && id !== undefined ? [id] : []),
  );
