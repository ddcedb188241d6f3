// Steering commands at work: interrupt, pause and resume, under one worker and under the next.
import { until } from '#testing';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeEach(async () => {
  fixture = await createWorkerFixture();
  await fixture.startWorker();
}, 60_000);
afterEach(() => fixture.close(), 60_000);

const TICKS = 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.05; done';
const headOf = async (runId: string) => (await fixture.outputs.head(runId))?.headOffset ?? 0;

/** How far the output is once it stands still. */
async function standing(runId: string): Promise<number> {
  let last = -1;
  let since = 0;
  return until('the output stands still', async () => {
    const head = await headOf(runId);
    if (head !== last) [last, since] = [head, performance.now()];
    return performance.now() - since > 600 ? head : undefined;
  });
}

describe('an interrupt', () => {
  it('SES-2 ends a command that dies of INT as interrupted, with what it started', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(projectId, { shell: 'echo up; sleep 1000 & sleep 1000' });
    await fixture.printed(runId, 'up');
    await fixture.steer('interrupt', runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'interrupted', errorCode: 'run.interrupted' });
  }, 60_000);

  it('SES-2 lets a command end as it wants to, once', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const shell = 'trap "echo caught" INT; echo up; i=0; while [ $i -lt 40 ]; do i=$((i+1)); sleep 0.1; done; exit 7';
    const { runId } = await fixture.command(projectId, { shell });
    await fixture.printed(runId, 'up');
    await fixture.steer('interrupt', runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'failed', exitCode: 7, errorCode: null });
    expect((await fixture.output(runId)).stdout.match(/caught/g)).toHaveLength(1);
  }, 60_000);

  it('SES-2 of a queued run is refused, and of one that is over', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const first = await fixture.command(projectId, { shell: 'echo up; sleep 1000' });
    const second = await fixture.command(projectId, { shell: 'true' });
    await fixture.printed(first.runId, 'up');
    await expect(fixture.steer('interrupt', second.runId)).rejects.toMatchObject({
      code: 'run.not_active',
      details: { status: 'queued' },
    });
    await fixture.steer('interrupt', first.runId);
    await fixture.ended(first.runId);
    await expect(fixture.steer('interrupt', first.runId)).rejects.toMatchObject({ code: 'run.already_finished' });
  }, 60_000);
});

describe('a pause', () => {
  it('SES-3 holds a command still, with its time and without a slot, until it is resumed', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(projectId, { shell: TICKS, timeoutMs: 8_000 });
    await fixture.printed(runId, 'tick 10\n');
    await fixture.steer('pause', runId);
    const paused = await fixture.when(runId, ({ status }) => status === 'paused');
    expect(paused.pausedAt).toBeInstanceOf(Date);
    const head = await standing(runId);
    expect((await fixture.runs.find(runId))?.activeMs).toBeLessThan(4_000);
    await fixture.steer('resume', runId);
    await fixture.when(runId, ({ status, pausedAt }) => status === 'running' && pausedAt === null);
    await until('it goes on', async () => (await headOf(runId)) > head);
    await fixture.cancel(runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
    const updates = (await fixture.eventsOf(projectId)).filter(({ type }) => type === 'run.updated');
    expect(updates.map(({ payload }) => payload['status'])).toEqual(['paused', 'running']);
  }, 60_000);

  it('SES-3 reaches no timeout while it lasts, and reaches it after', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(projectId, { shell: TICKS, timeoutMs: 2_000 });
    await fixture.printed(runId, 'tick 5\n');
    await fixture.steer('pause', runId);
    const { pausedAt } = await fixture.when(runId, ({ status }) => status === 'paused');
    await until('more than its timeout passes', () => Date.now() - Number(pausedAt) > 3_000);
    expect(await fixture.runs.find(runId)).toMatchObject({ status: 'paused' });
    await fixture.steer('resume', runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'timed_out' });
  }, 60_000);

  it('SES-3 can be ended by a cancel, and by an interrupt', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    for (const how of ['cancelled', 'interrupted'] as const) {
      const { runId } = await fixture.command(projectId, { shell: TICKS });
      await fixture.printed(runId, 'tick 5\n');
      await fixture.steer('pause', runId);
      await fixture.when(runId, ({ status }) => status === 'paused');
      if (how === 'cancelled') await fixture.cancel(runId);
      else await fixture.steer('interrupt', runId);
      expect(await fixture.ended(runId)).toMatchObject({ status: how });
    }
  }, 60_000);

  it('SES-3 frees a slot for another run, and takes one again', async () => {
    await fixture.close();
    fixture = await createWorkerFixture({ env: { GANTRY_MAX_CONCURRENT_RUNS: '1' } });
    await fixture.startWorker();
    const { projectId } = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(projectId, { shell: TICKS });
    await fixture.printed(runId, 'tick 5\n');
    const other = await fixture.command(projectId, { shell: 'echo up; sleep 1000', lane: 'other' });
    await fixture.steer('pause', runId);
    await fixture.printed(other.runId, 'up');
    await fixture.steer('resume', runId);
    const head = await standing(runId);
    expect(await fixture.runs.find(runId)).toMatchObject({ status: 'paused' });
    await fixture.cancel(other.runId);
    await until('it goes on', async () => (await headOf(runId)) > head);
    await fixture.cancel(runId);
    await fixture.ended(runId);
  }, 60_000);

  it('SES-3 is void when it is resumed before it was carried out', async () => {
    const { projectId } = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(projectId, { shell: TICKS });
    await fixture.steer('pause', runId);
    await fixture.steer('resume', runId);
    await fixture.printed(runId, 'tick 60\n');
    await expect(fixture.steer('resume', runId)).rejects.toMatchObject({ code: 'run.not_active' });
    await fixture.cancel(runId);
    await fixture.ended(runId);
  }, 60_000);
});
