// Steering outlives the worker that was to carry it out: what was asked for is done by the next one, once.
import { type ServiceProcess, spawnService, until } from '#testing';
import { type AgentFixture, createAgentFixture, textOf } from '../integration/agent/agent-fixture.js';

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

/** Does something while no worker is there. */
async function betweenWorkers(work: () => Promise<unknown>): Promise<void> {
  await worker.kill('SIGKILL');
  await work();
  worker = startWorker();
}

const speaks = (projectId: string, chars = 40) =>
  until(
    'it speaks',
    async () => (await fixture.bus.partials(projectId)).find(({ text }) => text.length > chars),
    30_000,
  );
const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');
const TICKS = 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.05; done';
const headOf = async (runId: string) => (await fixture.outputs.head(runId))?.headOffset ?? 0;

describe('a worker that is killed', () => {
  it('SES-2 leaves an interrupt of a prompt to the next, which ends the turn in the same process', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 3000 20');
    await speaks(projectId);
    await betweenWorkers(() => fixture.steer('interrupt', runId));
    const run = await fixture.ended(runId, 30_000);
    expect(run).toMatchObject({ status: 'interrupted', errorCode: 'run.interrupted' });
    expect(textOf(await fixture.messages(projectId, runId))).toMatch(/^w0 w1 w2 /);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId, 30_000);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'on', processId: run.processId });
  }, 120_000);

  it('SES-2 just after an interrupt is followed by one that knows what the turn ended of', async () => {
    const { projectId } = await fixture.newProject();
    const command = await fixture.command(projectId, {
      shell: 'trap "sleep 2; trap - INT; kill -INT $$" INT; echo up; while :; do sleep 0.1; done',
    });
    await fixture.printed(command.runId, 'up');
    await fixture.steer('interrupt', command.runId);
    await until('it was told', async () => {
      const { db } = fixture.database;
      const open = { runId: command.runId, kind: 'interrupt', appliedAt: null };
      return (await db.run((client) => client.intent.count({ where: open }))) === 0;
    });
    await betweenWorkers(async () => undefined);
    expect(await fixture.ended(command.runId, 30_000)).toMatchObject({ status: 'interrupted' });
  }, 120_000);

  it('SES-3 leaves a paused command to the next: it stays paused, and goes on when it is resumed', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.command(projectId, { shell: TICKS, timeoutMs: 30_000 });
    await fixture.printed(runId, 'tick 10\n');
    await fixture.steer('pause', runId);
    const { activeMs } = await fixture.when(runId, ({ status }) => status === 'paused');
    await betweenWorkers(async () => undefined);
    await fixture.when(runId, ({ epoch }) => epoch > 1);
    const head = await headOf(runId);
    await fixture.steer('resume', runId);
    await until('it goes on', async () => (await headOf(runId)) > head, 30_000);
    const run = await fixture.runs.find(runId);
    expect(run).toMatchObject({ status: 'running', pausedAt: null });
    expect(run?.activeMs).toBeLessThan(activeMs + 5_000);
    await fixture.cancel(runId);
    await fixture.ended(runId);
    const numbers = [...(await fixture.output(runId)).stdout.matchAll(/tick (\d+)/g)].map(([, n]) => Number(n));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }, 120_000);

  it('SES-3 leaves a paused agent to the next, which finishes its answer in the same process', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 150 30');
    await speaks(projectId);
    await fixture.steer('pause', runId);
    await fixture.when(runId, ({ status }) => status === 'paused');
    await betweenWorkers(async () => undefined);
    await fixture.when(runId, ({ epoch }) => epoch > 1);
    await fixture.steer('resume', runId);
    expect(await fixture.ended(runId, 30_000)).toMatchObject({ status: 'succeeded', resultText: words(150) });
    expect(await fixture.processesOf(projectId)).toHaveLength(1);
  }, 120_000);

  it('SES-3 leaves a pause and a resume to the next, which carries them out; and a cancel of what is paused', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 3000 30');
    await speaks(projectId);
    await betweenWorkers(() => fixture.steer('pause', runId));
    await fixture.when(runId, ({ status }) => status === 'paused');
    await betweenWorkers(() => fixture.steer('resume', runId));
    await fixture.when(runId, ({ status }) => status === 'running');
    await fixture.steer('pause', runId);
    await fixture.when(runId, ({ status }) => status === 'paused');
    await betweenWorkers(() => fixture.cancel(runId));
    expect(await fixture.ended(runId, 30_000)).toMatchObject({ status: 'cancelled' });
  }, 120_000);

  it('SES-4 leaves a setting to the next', async () => {
    const { projectId } = await fixture.newProject();
    const { runId, sessionId } = await fixture.prompt(projectId, 'demo:bash touch asked\ndemo:echo');
    const question = await fixture.question(projectId);
    await betweenWorkers(() => fixture.sessions.update(String(sessionId), fixture.user.userId, { model: 'sonnet' }));
    await until(
      'the agent was told',
      async () => {
        const { db } = fixture.database;
        return (
          (await db.run((client) => client.intent.count({ where: { runId, kind: 'setting', appliedAt: null } }))) === 0
        );
      },
      30_000,
    );
    await fixture.answer(question, { behavior: 'allow' });
    const run = await fixture.ended(runId, 30_000);
    expect((JSON.parse(run.resultText ?? '') as { model: string }).model).toMatch(/sonnet/);
  }, 120_000);

  it('SES-9 loses no input and repeats none, whenever it is killed', async () => {
    const { projectId } = await fixture.newProject();
    const shell = 'while read line; do echo "got $line"; done';
    const { runId } = await fixture.command(projectId, { shell, stdin: 'pipe' });
    const lines = 60;
    for (let seq = 1; seq <= lines; seq += 1) {
      await fixture.type(runId, seq, `line ${seq}\n`, seq === lines);
      if (seq % 4 === 0) await fixture.type(runId, seq - 1, 'a repeat\n');
      if (seq % 20 === 0) {
        await worker.kill('SIGKILL');
        worker = startWorker();
      }
    }
    expect(await fixture.ended(runId, 60_000)).toMatchObject({ status: 'succeeded' });
    const wanted = Array.from({ length: lines }, (_, index) => `got line ${index + 1}\n`).join('');
    expect((await fixture.output(runId)).stdout).toBe(wanted);
  }, 120_000);
});
