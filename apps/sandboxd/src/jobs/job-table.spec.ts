// What becomes of jobs that cannot be started. Real folders; no processes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchFailure } from '../processes/launcher.js';
import { JobTable, type JobTableOptions } from './job-table.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-jobs-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const request = {
  processId: 'p1',
  argv: ['true'],
  cwd: '/',
  env: {},
  stdin: 'null' as const,
  epoch: 1,
};

async function startWith(failure: Error) {
  const logged: string[] = [];
  const options = {
    root: join(root, 'spools'),
    bootId: 'boot',
    limits: { capBytes: 1_000_000, segmentBytes: 100_000 },
    launcher: { launch: () => Promise.reject(failure) },
    trees: { countDescendants: () => new Map(), add: () => undefined, prune: () => undefined },
    memory: { started: () => undefined, ended: () => false },
    log: (event: string) => void logged.push(event),
  } as unknown as JobTableOptions;
  const { job } = await new JobTable(options).start(request);
  return { info: job.info(0), logged };
}

it('SBX-2 a job that could not be launched has ended, whatever kept it from it', async () => {
  const known = await startWith(new LaunchFailure('ENOENT', 'program'));
  expect(known.info).toMatchObject({ state: 'exited', exit: { spawnError: 'ENOENT', spawnErrorAt: 'program' } });
  expect(known.logged).toEqual([]);
  rmSync(root, { recursive: true, force: true });
  const unknown = await startWith(new TypeError('no such thing'));
  expect(unknown.info).toMatchObject({ state: 'exited', exit: { spawnError: 'EIO' } });
  expect(unknown.logged).toEqual(['launch_failed']);
  rmSync(root, { recursive: true, force: true });
  const coded = await startWith(Object.assign(new Error('full'), { code: 'EMFILE' }));
  expect(coded.info).toMatchObject({ exit: { spawnError: 'EMFILE' } });
});
