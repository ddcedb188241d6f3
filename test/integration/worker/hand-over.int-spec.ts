import pg from 'pg';
import type { ProjectRecord } from '#domain';
import { until } from '#testing';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeEach(async () => {
  fixture = await createWorkerFixture();
}, 60_000);
afterEach(async () => {
  await fixture.close();
}, 60_000);

const COUNT =
  'echo started >> starts; i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done; exit 5';
const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');
const startsOf = async (project: ProjectRecord) => {
  const { runId } = await fixture.command(project.projectId, { argv: ['cat', 'starts'] });
  await fixture.ended(runId);
  return (await fixture.output(runId)).all;
};

describe('hand-over', () => {
  it('ENG-14, ENG-33 gives a running command to the next worker: started once, every byte stored once', async () => {
    const first = await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(project.projectId, { shell: COUNT });
    for (const line of ['line 10\n', 'line 25\n']) {
      await fixture.printed(runId, line);
      await fixture.startWorker();
      await first.close();
    }
    expect(await fixture.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5, endOffset: LINES.length });
    expect((await fixture.output(runId)).all).toBe(LINES);
    expect(await startsOf(project)).toBe('started\n');
    const resumed = (await fixture.eventsOf(project.projectId)).filter(
      ({ type, runId: of }) => type === 'run.started' && of === runId,
    );
    expect(resumed.map(({ payload }) => payload['resumed'])).toEqual([false, true]);
  }, 60_000);

  it('ENG-10 keeps a standby out, and gives it the host when the holder leaves', async () => {
    const first = await fixture.startWorker();
    await fixture.host();
    const second = await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const before = await fixture.command(project.projectId, { argv: ['true'] });
    await fixture.ended(before.runId);
    const holders = () => fixture.logged().filter(({ msg }) => msg === 'lease taken').length;
    expect(holders()).toBe(1);
    await until('the standby is ready', async () => (await fetch(`${second.url}/readyz`)).ok);
    expect(holders()).toBe(1);
    await first.close();
    const after = await fixture.command(project.projectId, { argv: ['true'] });
    expect(await fixture.ended(after.runId)).toMatchObject({ status: 'succeeded' });
    expect(holders()).toBe(2);
  });

  it('ENG-54 keeps the host while everything else waits for Postgres', async () => {
    const first = await fixture.startWorker();
    const { hostId } = await fixture.host();
    await first.close();
    // More than a worker has connections.
    for (let count = 0; count < 16; count += 1) {
      const { projectId } = await fixture.project(fixture.dataDir, { hostId });
      await fixture.command(projectId, { argv: ['true'] });
    }
    const leaseUntil = async () =>
      (
        await fixture.database.db.client.host.findFirstOrThrow({ select: { leaseUntil: true } })
      ).leaseUntil?.getTime() ?? 0;
    const blocker = new pg.Client({ connectionString: fixture.database.url });
    await blocker.connect();
    try {
      await blocker.query('BEGIN; SELECT 1 FROM project_head FOR UPDATE');
      await fixture.startWorker({ GANTRY_MAX_CONCURRENT_RUNS: '32' });
      await fixture.host();
      const from = await leaseUntil();
      // Longer than anybody waits for a free connection.
      await until('the lease is renewed', async () => (await leaseUntil()) > from + 7_000);
    } finally {
      await blocker.end();
    }
    expect(fixture.logged().filter(({ msg }) => msg === 'lease lost')).toEqual([]);
    expect(fixture.logged().filter(({ msg }) => msg === 'lease taken')).toHaveLength(2);
  }, 60_000);

  it('ENG-11, ENG-28 lets go of everything when the host is taken away, and changes nothing more', async () => {
    await fixture.startWorker();
    const host = await fixture.host();
    const project = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(project.projectId, { shell: COUNT });
    await fixture.printed(runId, 'line 5\n');
    // What a holder elsewhere does: a higher epoch for the host and the run, while the first one still works on it.
    await fixture.database.db.run(
      (client) =>
        client.$executeRaw`UPDATE host SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ${host.hostId}::uuid`,
    );
    const lease = await fixture.hosts.acquire({
      engineId: host.engineId,
      holderId: fixture.user.userId,
      leaseMs: 60_000,
      maxRuns: 4,
      projectRoots: [],
      info: {},
    });
    if (lease === undefined) throw new Error('the lease was not to be had');
    const run = await fixture.when(runId, () => true);
    await fixture.executions.claim({ runId, dispatchNo: run.dispatchNo }, lease);
    await until('the worker lets go', () => fixture.logged().some(({ msg }) => msg === 'lease let go'));
    const frozen = await fixture.output(runId);
    expect(await fixture.runs.find(runId)).toMatchObject({ status: 'running', epoch: run.epoch + 1 });
    // The command itself went on, and the rightful holder has it to its end.
    await fixture.hosts.release(lease);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await fixture.output(runId)).all).toBe(LINES);
    expect(LINES.startsWith(frozen.all)).toBe(true);
  }, 60_000);

  it('ENG-15 ends live runs as interrupted, stops the sandboxes, and leaves what is queued for the next start', async () => {
    const first = await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const live = await fixture.command(project.projectId, { shell: 'echo up; sleep 1000' });
    const queued = await fixture.command(project.projectId, { argv: ['echo', 'later'] });
    await fixture.printed(live.runId, 'up');
    await first.shutDown();
    expect(await fixture.runs.find(live.runId)).toMatchObject({ status: 'interrupted', errorCode: 'run.interrupted' });
    expect((await fixture.runtime.list()).map(({ state }) => state)).toEqual(['stopped']);
    await fixture.startWorker();
    expect(await fixture.ended(queued.runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);
});
