// A worker that is killed while output is being cut, and one that deletes what has expired.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#testing';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.js';

let workers: WorkerProcesses;
beforeEach(async () => {
  workers = await createWorkerProcesses();
}, 60_000);
afterEach(async () => {
  await workers.close();
}, 60_000);

const CAP = 1_000_001;
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

it('RET-1 keeps exactly the first and the last half, however often the worker is killed in the middle of cutting', async () => {
  const env = { GANTRY_MAX_RUN_OUTPUT_BYTES: String(CAP) };
  let worker = await workers.startProcess(env);
  const project = await workers.project(workers.dataDir);
  const { runId } = await workers.command(project.projectId, {
    shell: 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 1500000 /dev/urandom | tee -a bytes; sleep 0.3; done',
  });
  for (const megabytes of [2, 7, 12]) {
    await until('output comes', async () => {
      const head = await workers.outputs.head(runId);
      return (head?.headOffset ?? 0) > megabytes * 1_000_000;
    });
    await worker.kill('SIGKILL');
    worker = await workers.startProcess(env);
  }
  const run = await workers.ended(runId, 60_000);
  const written = await readFile(join(project.path, 'bytes'));
  const [first, last] = [Math.floor(CAP / 2), Math.ceil(CAP / 2)];
  expect(run).toMatchObject({
    status: 'succeeded',
    endOffset: written.length,
    outputBytes: CAP,
    outputCut: { from: first, to: written.length - last },
  });
  const stored = Buffer.from((await workers.output(runId)).all, 'latin1');
  expect(stored).toHaveLength(CAP);
  expect(sha256(stored)).toBe(
    sha256(Buffer.concat([written.subarray(0, first), written.subarray(written.length - last)])),
  );
}, 180_000);

it('RET-9 expires and deletes by itself what is above the cap of its project', async () => {
  await workers.startProcess({ GANTRY_MAX_PROJECT_OUTPUT_BYTES: '100000', GANTRY_RETENTION_SWEEP_MS: '200' });
  const project = await workers.project(workers.dataDir);
  const runs: string[] = [];
  for (const _ of [1, 2]) {
    const { runId } = await workers.command(project.projectId, { shell: 'head -c 80000 /dev/zero' });
    await workers.ended(runId, 30_000);
    runs.push(runId);
  }
  const [older = '', newer = ''] = runs;
  await workers.when(older, ({ outputExpiredAt, outputBytes }) => outputExpiredAt !== null && outputBytes === 0);
  expect(await workers.outputs.head(older)).toMatchObject({ headOffset: 80_000, expiredAt: expect.any(Date) as Date });
  expect((await workers.output(newer)).all).toHaveLength(80_000);
}, 60_000);
