import { type RedisProcess, startRedisProcess } from '#testing';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.js';

let redis: RedisProcess;
let workers: WorkerProcesses;
const setUp = async (options: { started: boolean }) => {
  redis = await startRedisProcess(options);
  workers = await createWorkerProcesses({ redisUrl: redis.url });
};
afterEach(async () => {
  await workers.close();
  await redis.close();
}, 60_000);

const slow = 'i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done';
const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('');

describe('Redis', () => {
  it('ENG-4, ENG-40 may be down at start: readyz says so, runs are worked on all the same', async () => {
    await setUp({ started: false });
    const worker = await workers.spawn();
    const said = await workers.readiness(worker, ({ checks }) => checks['host']?.status === 'ok');
    expect(said).toMatchObject({ status: 503, checks: { redis: { error: { code: 'service.unavailable' } } } });
    const project = await workers.project(workers.dataDir);
    const before = await workers.command(project.projectId, { argv: ['echo', 'without'] });
    expect(await workers.ended(before.runId)).toMatchObject({ status: 'succeeded' });
    await redis.start();
    await workers.readiness(worker, ({ status }) => status === 200);
    const after = await workers.command(project.projectId, { argv: ['echo', 'with'] });
    expect(await workers.ended(after.runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);

  it('ENG-4, ENG-40 may be wiped in the middle of a run: it and those behind it go on', async () => {
    await setUp({ started: true });
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const running = await workers.command(project.projectId, { shell: slow });
    const queued = await workers.command(project.projectId, { argv: ['echo', 'next'] });
    await workers.printed(running.runId, 'line 5\n');
    await workers.redis.flushall();
    expect(await workers.ended(running.runId)).toMatchObject({ status: 'succeeded' });
    expect((await workers.output(running.runId)).all).toBe(lines);
    expect(await workers.ended(queued.runId)).toMatchObject({ status: 'succeeded' });
    expect(worker.lines.filter((line) => line.includes('run finished'))).toHaveLength(2);
  }, 60_000);

  it('ENG-4 may die and come back empty: what is running, queued and new goes on', async () => {
    await setUp({ started: true });
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const running = await workers.command(project.projectId, { shell: slow });
    await workers.printed(running.runId, 'line 5\n');
    await redis.kill();
    const meanwhile = await workers.command(project.projectId, { argv: ['echo', 'meanwhile'] });
    expect(await workers.ended(running.runId)).toMatchObject({ status: 'succeeded' });
    expect((await workers.output(running.runId)).all).toBe(lines);
    expect(await workers.ended(meanwhile.runId)).toMatchObject({ status: 'succeeded' });
    await redis.start();
    await workers.readiness(worker, ({ status }) => status === 200);
    const after = await workers.command(project.projectId, { argv: ['echo', 'after'] });
    expect(await workers.ended(after.runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);

  it('ENG-4, ENG-40 may come back: what it missed is found at once, not with the next turn of reconciling', async () => {
    await setUp({ started: true });
    const worker = await workers.startProcess({ GANTRY_RECONCILE_MS: '600000' });
    const project = await workers.project(workers.dataDir);
    await redis.kill();
    await workers.readiness(worker, ({ status }) => status === 503);
    const { runId } = await workers.command(project.projectId, { argv: ['true'] });
    expect(await workers.runs.find(runId)).toMatchObject({ status: 'dispatched' });
    await redis.start();
    expect(await workers.ended(runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);

  it('ENG-25 may hang: a cancel is found all the same', async () => {
    await setUp({ started: true });
    await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: 'echo up; sleep 1000' });
    await workers.printed(runId, 'up');
    redis.freeze();
    await workers.runs.cancel(runId, workers.user.userId);
    expect(await workers.ended(runId)).toMatchObject({ status: 'cancelled' });
    redis.thaw();
  }, 60_000);

  it('ENG-14 may be down when a worker leaves: it exits within seconds, and its run goes on', async () => {
    await setUp({ started: true });
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: slow });
    await workers.printed(runId, 'line 5\n');
    await redis.kill();
    const before = performance.now();
    expect(await worker.kill('SIGTERM')).toBe(0);
    expect(performance.now() - before).toBeLessThan(8_000);
    await workers.spawn();
    expect(await workers.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect((await workers.output(runId)).all).toBe(lines);
  }, 60_000);
});
