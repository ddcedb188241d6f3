import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectRecord } from '#domain';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeEach(async () => {
  fixture = await createWorkerFixture();
}, 60_000);
afterEach(async () => {
  await fixture.close();
}, 60_000);

/** Writes when it begins and ends into a file that all commands of the project share. */
const ledger = (name: string, work: string) => `echo "+${name}" >> ledger; ${work}; echo "-${name}" >> ledger`;
const readLedger = async (project: ProjectRecord) =>
  (await readFile(join(project.path, 'ledger'), 'utf8')).trim().split('\n').join(' ');

describe('order', () => {
  it('ENG-29 works on the runs of a lane one after the other, in order', async () => {
    await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const runs = [];
    for (const name of ['a', 'b', 'c']) {
      runs.push(await fixture.command(project.projectId, { shell: ledger(name, 'sleep 0.2') }));
    }
    for (const { runId } of runs) expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(await readLedger(project)).toBe('+a -a +b -b +c -c');
  });

  it('ENG-29 works on two projects, and on two lanes of one, side by side', async () => {
    await fixture.startWorker();
    const [one, two] = [await fixture.project(fixture.dataDir), await fixture.project(fixture.dataDir)];
    // Each waits for the other: one after the other they would never end.
    const meet = (mine: string, other: string) => `touch ${mine}; until [ -e ${other} ]; do sleep 0.02; done`;
    const left = await fixture.command(one.projectId, { shell: meet('left', 'right') });
    const right = await fixture.command(one.projectId, { shell: meet('right', 'left'), lane: 'parallel' });
    const elsewhere = await fixture.command(two.projectId, { argv: ['true'] });
    for (const { runId } of [left, right, elsewhere]) {
      expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    }
  });

  it('ENG-21, ENG-22, ENG-27 works on no more runs than the host may; waiting for a slot is no work and can be cancelled', async () => {
    await fixture.startWorker({ GANTRY_MAX_CONCURRENT_RUNS: '1' });
    const [one, two] = [await fixture.project(fixture.dataDir), await fixture.project(fixture.dataDir)];
    const hold = 'until [ -e go ]; do sleep 0.02; done';
    const first = await fixture.command(one.projectId, { shell: hold });
    await fixture.when(first.runId, ({ status }) => status === 'running');
    const second = await fixture.command(two.projectId, { argv: ['true'], timeoutMs: 2_000 });
    const third = await fixture.command(two.projectId, { argv: ['true'], lane: 'parallel' });
    await fixture.command(one.projectId, { argv: ['true'] });
    await fixture.when(second.runId, ({ status }) => status === 'dispatched');
    const cancelled = await fixture.cancel(third.runId);
    expect(await fixture.ended(cancelled.runId)).toMatchObject({ status: 'cancelled', processId: null });
    expect(await fixture.runs.find(second.runId)).toMatchObject({ status: 'dispatched', startedAt: null });
    const { runId } = await fixture.cancel(first.runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
    expect(await fixture.ended(second.runId)).toMatchObject({ status: 'succeeded' });
  });
});
