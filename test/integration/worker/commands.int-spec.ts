import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await createWorkerFixture();
  await fixture.startWorker();
});
afterAll(async () => {
  await fixture.close();
});

describe('commands', () => {
  it('ENG-30 stores the output of a command, exit code and duration', async () => {
    const project = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(project.projectId, { shell: 'echo hello; echo oops >&2; exit 3' });
    const run = await fixture.ended(runId);
    console.log(fixture.logs.join(''));
    expect(run).toMatchObject({ status: 'failed', exitCode: 3, endOffset: 11 });
    expect(await fixture.output(runId)).toEqual({ stdout: 'hello\n', stderr: 'oops\n', all: 'hello\noops\n' });
  }, 60_000);
});
