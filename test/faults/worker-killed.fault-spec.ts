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

const count = (to: number, pause: number) =>
  `echo started >> starts; i=0; while [ $i -lt ${to} ]; do i=$((i+1)); echo "line $i"; sleep ${pause}; done; exit 5`;
const lines = (to: number) => Array.from({ length: to }, (_, index) => `line ${index + 1}\n`).join('');
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('a worker that is killed', () => {
  it('ENG-33, ENG-10 is followed by the next: the command runs on, was started once, every byte is stored once', async () => {
    let worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: count(100, 0.05) });
    for (const line of ['line 10\n', 'line 30\n', 'line 60\n']) {
      await workers.printed(runId, line);
      await worker.kill('SIGKILL');
      worker = await workers.startProcess();
    }
    expect(await workers.ended(runId, 40_000)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines(100));
    expect(await readFile(join(project.path, 'starts'), 'utf8')).toBe('started\n');
  }, 120_000);

  it('ENG-33 loses no byte of a flood and stores none twice', async () => {
    let worker = await workers.startProcess();
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
      worker = await workers.startProcess();
    }
    expect(await workers.ended(runId, 60_000)).toMatchObject({ status: 'succeeded', endOffset: 18_000_000 });
    const stored = Buffer.from((await workers.output(runId)).all, 'latin1');
    expect(sha256(stored)).toBe(sha256(await readFile(join(project.path, 'bytes'))));
  }, 180_000);

  it('ENG-33, ENG-29 executes nothing twice and nothing out of order, whenever it is killed', async () => {
    let worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const names = Array.from({ length: 24 }, (_, index) => String(index));
    const runs = [];
    for (const name of names) {
      const shell = `echo "+${name}" >> ledger; sleep 0.1; echo "-${name}" >> ledger`;
      runs.push(await workers.command(project.projectId, { shell }));
    }
    for (const index of [1, 6, 11, 16]) {
      const run = runs[index];
      if (run === undefined) throw new Error('no such run');
      // At the moment of promotion: the command may be registered, started or neither.
      await workers.when(run.runId, ({ status }) => status !== 'queued');
      await worker.kill('SIGKILL');
      worker = await workers.startProcess();
    }
    for (const { runId } of runs) expect(await workers.ended(runId, 60_000)).toMatchObject({ status: 'succeeded' });
    const ledger = (await readFile(join(project.path, 'ledger'), 'utf8')).trim().split('\n');
    expect(ledger).toEqual(names.flatMap((name) => [`+${name}`, `-${name}`]));
  }, 180_000);

  it('ENG-10 leaves the host to a standby that was there before', async () => {
    const [first, second] = [await workers.startProcess(), await workers.startProcess()];
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: count(40, 0.05) });
    await workers.printed(runId, 'line 5\n');
    const holds = (of: typeof first) => of.lines.some((line) => line.includes('lease taken'));
    expect([holds(first), holds(second)].filter(Boolean)).toHaveLength(1);
    const [holder, standby] = holds(first) ? [first, second] : [second, first];
    await holder.kill('SIGKILL');
    await standby.waitForLine(/lease taken/);
    expect(await workers.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines(40));
  }, 90_000);

  it('ENG-25 is followed by one that finds the cancel which the dead one did not come to', async () => {
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: 'echo up; sleep 1000' });
    await workers.printed(runId, 'up');
    await worker.kill('SIGKILL');
    await workers.cancel(runId);
    await workers.startProcess();
    expect(await workers.ended(runId)).toMatchObject({ status: 'cancelled' });
  }, 60_000);

  it('ENG-22 is followed by one that goes on counting the time of the run', async () => {
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const shell = 'while :; do echo tick; sleep 0.1; done';
    const { runId } = await workers.command(project.projectId, { shell, timeoutMs: 3_000 });
    await workers.when(runId, ({ activeMs }) => activeMs > 1_500);
    await worker.kill('SIGKILL');
    const next = await workers.startProcess();
    const run = await workers.ended(runId);
    expect(run).toMatchObject({ status: 'timed_out' });
    expect(run.activeMs).toBeLessThan(4_500);
    const line = next.lines.find((text) => text.includes('run finished'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ status: 'timed_out', error_code: 'run.timed_out' });
  }, 60_000);
});

describe('a worker that is frozen', () => {
  it('ENG-11, ENG-28 finds when it wakes that others have its runs, changes nothing and stands by', async () => {
    const [first, second] = [await workers.startProcess(), await workers.startProcess()];
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: count(120, 0.05) });
    await workers.printed(runId, 'line 10\n');
    const holds = (of: typeof first) => of.lines.some((line) => line.includes('lease taken'));
    const [holder, standby] = holds(first) ? [first, second] : [second, first];
    holder.signal('SIGSTOP');
    await standby.waitForLine(/lease taken/);
    await workers.printed(runId, 'line 70\n');
    holder.signal('SIGCONT');
    await holder.waitForLine(/lease let go/);
    expect(await workers.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines(120));
    expect(holder.lines.filter((line) => line.includes('run finished'))).toEqual([]);
    expect((await fetch(`${holder.url}/readyz`)).status).toBe(200);
  }, 90_000);
});

describe('a worker that is told to leave', () => {
  it('ENG-14 exits at SIGTERM within seconds, and the command does not notice', async () => {
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: count(60, 0.05) });
    await workers.printed(runId, 'line 10\n');
    const before = performance.now();
    expect(await worker.kill('SIGTERM')).toBe(0);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect((await workers.hosts.list()).map(({ held }) => held)).toEqual([false]);
    expect(await workers.runs.find(runId)).toMatchObject({ status: 'running' });
    await workers.startProcess();
    expect(await workers.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines(60));
  }, 60_000);

  it('ENG-15 ends runs and stops sandboxes at SIGUSR2, and exits with 0', async () => {
    const worker = await workers.startProcess();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: 'echo up; sleep 1000' });
    await workers.printed(runId, 'up');
    expect(await worker.kill('SIGUSR2')).toBe(0);
    expect(await workers.runs.find(runId)).toMatchObject({ status: 'interrupted' });
    expect((await workers.runtime.list()).map(({ state }) => state)).toEqual(['stopped']);
  }, 60_000);
});
