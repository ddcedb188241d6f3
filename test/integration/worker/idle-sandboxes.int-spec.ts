// What becomes of a sandbox that nobody uses.
import type { ProjectRecord } from '#domain';
import { until } from '#testing';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await createWorkerFixture();
  await fixture.startWorker({ GANTRY_SANDBOX_IDLE_MS: '300' });
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 60_000);

const stateOf = async ({ projectId }: ProjectRecord) =>
  (await fixture.runtime.list()).find((sandbox) => sandbox.projectId === projectId);

async function ran(project: ProjectRecord, shell: string): Promise<string> {
  const { runId } = await fixture.command(project.projectId, { shell });
  expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
  return (await fixture.output(runId)).all;
}

it('ENG-53 stops a sandbox in which nothing happens, and starts it again for the next run, with its files', async () => {
  const project = await fixture.project(fixture.dataDir);
  await ran(project, 'echo kept > /workspace/file; echo kept > ~/file');
  await until('the sandbox is stopped', async () => (await stateOf(project))?.state === 'stopped' || undefined, 30_000);
  expect(await ran(project, 'cat /workspace/file ~/file')).toBe('kept\nkept\n');
}, 90_000);

it('ENG-53 keeps a sandbox in which a command left something running', async () => {
  const project = await fixture.project(fixture.dataDir);
  await ran(project, 'sleep 4242 >/dev/null 2>&1 & echo started');
  const { sandboxId } = await until('the sandbox is there', () => stateOf(project));
  const kept = () =>
    fixture.logged().find((line) => line['sandbox_id'] === sandboxId && String(line['msg']).includes('is kept'));
  await until('the worker has looked at it', async () => kept(), 30_000);
  expect((await stateOf(project))?.state).toBe('running');
}, 90_000);
