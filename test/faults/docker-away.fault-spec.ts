import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#kernel';
import { type SocketProxy, startSocketProxy, testEnv } from '#testing';
import { createWorkerProcesses, type Readiness, type WorkerProcesses } from './worker-processes.js';

let workers: WorkerProcesses;
let docker: SocketProxy;
let environment: Record<string, string>;
const setUp = async (options: { cut: boolean }) => {
  workers = await createWorkerProcesses();
  const path = join(workers.dataDir, 'docker.sock');
  docker = await startSocketProxy({ path }, { path: testEnv().dockerSocket }, options);
  environment = { DOCKER_SOCKET: path };
};
afterEach(async () => {
  await docker.close();
  await workers.close();
}, 60_000);

/** The host as an earlier worker left it. */
const knownHost = async () => {
  const { engineId } = await workers.runtime.engine();
  const facts = { engineId, holderId: newId(), leaseMs: 1_000, maxRuns: 4, projectRoots: [], info: {} };
  const lease = await workers.hosts.acquire(facts);
  if (lease === undefined) throw new Error('the lease was not to be had');
  await workers.hosts.release(lease);
  return lease.hostId;
};
const slow = 'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done';
const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');

describe('Docker', () => {
  it('ENG-12 may be unreachable at start: readyz says so, runs wait, then go on', async () => {
    await setUp({ cut: true });
    const project = await workers.project(workers.dataDir, { hostId: await knownHost() });
    const worker = await workers.spawn(environment);
    const { runId } = await workers.command(project.projectId, { argv: ['true'] });
    const unreachable = ({ checks }: Readiness) => checks['engine']?.error?.code === 'host.engine_unreachable';
    expect(await workers.readiness(worker, unreachable)).toMatchObject({ status: 503 });
    expect(await workers.runs.find(runId)).toMatchObject({ status: 'dispatched' });
    await docker.heal();
    expect(await workers.ended(runId)).toMatchObject({ status: 'succeeded' });
    await workers.readiness(worker, ({ status }) => status === 200);
  }, 60_000);

  it('ENG-13 may not see the paths of the worker: readyz says so with the remedy, and no lease is taken', async () => {
    await setUp({ cut: false });
    // In the engine's process the same name leads somewhere else.
    const folder = await mkdtemp(join('data-test', 'unshared-'));
    const worker = await workers.spawn({ ...environment, GANTRY_DATA_DIR: join('/proc/self/cwd', folder) });
    const notShared = ({ checks }: Readiness) => checks['engine']?.error?.code === 'host.paths_not_shared';
    const said = await workers.readiness(worker, notShared).finally(() => rm(folder, { recursive: true }));
    expect(said.checks['engine']?.error?.details).toHaveProperty('remedy');
    expect(await workers.hosts.list()).toEqual([]);
  }, 60_000);

  it('ENG-24, ENG-50 may go away in the middle: what runs goes on, and what starts in a running sandbox too', async () => {
    await setUp({ cut: false });
    const worker = await workers.startProcess(environment);
    const [project, other] = [await workers.project(workers.dataDir), await workers.project(workers.dataDir)];
    const running = await workers.command(project.projectId, { shell: slow });
    await workers.printed(running.runId, 'line 5\n');
    await docker.cut();
    const waiting = await workers.command(other.projectId, { argv: ['true'] });
    const said = await workers.readiness(worker, ({ status }) => status === 503);
    expect(said.checks['engine']?.error).toMatchObject({ code: 'host.engine_unreachable' });
    expect(await workers.ended(running.runId)).toMatchObject({ status: 'succeeded' });
    expect((await workers.output(running.runId)).all).toBe(lines);
    const next = await workers.command(project.projectId, { argv: ['true'] });
    expect(await workers.ended(next.runId)).toMatchObject({ status: 'succeeded' });
    expect(await workers.runs.find(waiting.runId)).toMatchObject({ status: 'running', processId: null });
    await docker.heal();
    expect(await workers.ended(waiting.runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);

  it('ENG-32, ENG-29 may lose a container: its run ends as lost with the output it had, and the lane goes on', async () => {
    await setUp({ cut: false });
    await workers.startProcess(environment);
    const project = await workers.project(workers.dataDir);
    const running = await workers.command(project.projectId, { shell: slow });
    const queued = await workers.command(project.projectId, { argv: ['true'] });
    await workers.printed(running.runId, 'line 10\n');
    const [sandbox] = await workers.runtime.list();
    await workers.runtime.remove(sandbox?.sandboxId ?? '', { data: false });
    expect(await workers.ended(running.runId)).toMatchObject({ status: 'failed', errorCode: 'sandbox.lost' });
    const { all } = await workers.output(running.runId);
    expect(lines.startsWith(all)).toBe(true);
    expect(all).toContain('line 10\n');
    expect(await workers.ended(queued.runId)).toMatchObject({ status: 'succeeded' });
  }, 60_000);
});
