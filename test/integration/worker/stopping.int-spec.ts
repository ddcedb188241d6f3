import type { ProjectRecord } from '#domain';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
let project: ProjectRecord;
beforeAll(async () => {
  fixture = await createWorkerFixture();
  await fixture.startWorker();
  project = await fixture.project(fixture.dataDir);
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 60_000);

/** How many processes in the sandbox have the word in their command line; the pattern does not match itself. */
const alive = async (word: string): Promise<number> => {
  const shell = `grep -lsa '[${word.charAt(0)}]${word.slice(1)}' /proc/[0-9]*/cmdline | wc -l`;
  const { runId } = await fixture.command(project.projectId, { shell, lane: 'look' });
  await fixture.ended(runId);
  return Number((await fixture.output(runId)).all);
};
const deaf = `trap '' INT TERM`;

describe('stopping', () => {
  it('ENG-23, ENG-25 cancels a command with everything it started, deaf and double-forked ones too', async () => {
    const { runId } = await fixture.command(project.projectId, {
      shell: `${deaf}; (setsid sh -c "${deaf}; sleep 7771; :" &); sleep 7772 & echo up; while :; do sleep 7773; done`,
    });
    await fixture.printed(runId, 'up');
    expect(await alive('777')).toBeGreaterThan(2);
    await fixture.cancel(runId);
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'cancelled', errorCode: 'run.cancelled' });
    expect((await fixture.output(runId)).all).toBe('up\n');
    expect(await alive('777')).toBe(0);
  }, 60_000);

  it('ENG-23 lets a command end by itself at INT and keeps what it says', async () => {
    const { runId } = await fixture.command(project.projectId, {
      shell: `trap 'echo bye; exit 4' INT; echo up; while :; do sleep 0.05; done`,
    });
    await fixture.printed(runId, 'up');
    await fixture.cancel(runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled', exitCode: 4 });
    expect((await fixture.output(runId)).all).toBe('up\nbye\n');
  });

  it('ENG-22 stops a command when its time is up', async () => {
    const { runId } = await fixture.command(project.projectId, { shell: 'echo up; sleep 8888', timeoutMs: 1_000 });
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'timed_out', errorCode: 'run.timed_out' });
    expect(run.activeMs).toBeGreaterThanOrEqual(1_000);
    expect(await alive('8888')).toBe(0);
  });

  it('ENG-25 finds a cancel though its wake-up was lost', async () => {
    const { runId } = await fixture.command(project.projectId, { shell: 'echo up; sleep 6666' });
    await fixture.printed(runId, 'up');
    await fixture.runs.cancel(runId, fixture.user.userId); // committed, announced to nobody
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
  });

  it('ENG-23 leaves alone what a command that succeeded left in the background', async () => {
    const { runId } = await fixture.command(project.projectId, { shell: '(setsid sleep 5555 >/dev/null 2>&1 &)' });
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(await alive('5555')).toBe(1);
  });
});
