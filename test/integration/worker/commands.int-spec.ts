import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiveFrame, ProjectRecord } from '#domain';
import { Heard } from '#testing';
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

const run = async (request: Parameters<WorkerFixture['command']>[1]) => {
  const { runId } = await fixture.command(project.projectId, request);
  return fixture.ended(runId);
};
const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');

describe('commands', () => {
  it('ENG-30, ENG-32 stores output, exit code and duration', async () => {
    const ended = await run({ shell: 'echo hello; echo oops >&2; exit 3' });
    expect(ended).toMatchObject({ status: 'failed', exitCode: 3, endOffset: 11, errorCode: null });
    expect(ended.durationMs).toBeGreaterThan(0);
    expect(await fixture.output(ended.runId)).toMatchObject({ stdout: 'hello\n', stderr: 'oops\n' });
    expect(await run({ argv: ['true'] })).toMatchObject({ status: 'succeeded', exitCode: 0, endOffset: 0 });
  });

  it('ENG-30 stores megabytes exactly, binary and all', async () => {
    const ended = await run({ shell: 'head -c 5000000 /dev/urandom | tee /workspace/bytes' });
    expect(ended).toMatchObject({ status: 'succeeded', endOffset: 5_000_000 });
    const stored = Buffer.from((await fixture.output(ended.runId)).all, 'latin1');
    expect(sha256(stored)).toBe(sha256(await readFile(join(project.path, 'bytes'))));
    const chunks = await fixture.outputs.read(ended.runId, 0, 8_000_000);
    chunks.reduce((end, { offset, data }) => {
      expect(offset).toBe(end);
      return end + data.length;
    }, 0);
  });

  it('ENG-30, ENG-34 shows output of a running command within moments, and says in live frames how far it reaches', async () => {
    const frames = new Heard<LiveFrame>();
    const { unsubscribe } = await fixture.bus.subscribe(project.projectId, frames.listen);
    const { runId } = await fixture.command(project.projectId, {
      shell: 'echo first; until [ -e /workspace/go ]; do sleep 0.05; done; echo last',
    });
    const nextOutput = async () => {
      for (;;) {
        const frame = await frames.next();
        if (frame.kind === 'output' && frame.output.runId === runId) return frame.output;
      }
    };
    expect(await nextOutput()).toMatchObject({ headOffset: 6, ended: false });
    expect(await fixture.output(runId)).toMatchObject({ stdout: 'first\n' });
    await fixture.command(project.projectId, { lane: 'other', argv: ['touch', '/workspace/go'] });
    let latest = await nextOutput();
    while (!latest.ended) latest = await nextOutput();
    expect(latest).toMatchObject({ headOffset: 11, ended: true });
    await unsubscribe();
  });

  it('ENG-31 passes words as they are and shows nothing of its own environment', async () => {
    const words = ['printf', '%s|', '$HOME', 'a b', '', '--x=*', "'"];
    expect((await fixture.output((await run({ argv: words })).runId)).all).toBe("$HOME|a b||--x=*|'|");
    const ended = await run({ argv: ['env'] });
    const variables = (await fixture.output(ended.runId)).all.trim().split('\n').sort();
    const names = variables.map((line) => line.split('=', 1)[0]);
    expect(variables).toEqual(
      expect.arrayContaining([`GANTRY_RUN_ID=${ended.runId}`, `GANTRY_PROJECT_ID=${project.projectId}`, 'TERM=dumb']),
    );
    expect(names).toEqual(expect.arrayContaining(['HOME', 'PATH', 'LANG']));
    for (const secret of ['DATABASE_URL', 'REDIS_URL', 'NODE_OPTIONS', 'JEST_WORKER_ID']) {
      expect(names).not.toContain(secret);
    }
  });

  it('ENG-32, ENG-29 names what could not be started, and the lane goes on', async () => {
    expect(await run({ argv: ['no-such-program'] })).toMatchObject({
      status: 'failed',
      errorCode: 'command.not_found',
    });
    expect(await run({ argv: ['true'], workingDir: '/workspace/missing' })).toMatchObject({
      status: 'failed',
      errorCode: 'command.working_directory',
    });
    expect(await run({ argv: ['/etc/passwd'] })).toMatchObject({ errorCode: 'command.spawn_failed' });
    expect(await run({ argv: ['true'] })).toMatchObject({ status: 'succeeded' });
  });

  it('ENG-32 says that memory ran out', async () => {
    const ended = await run({ shell: 'head -c 3G /dev/zero | tail' });
    expect(ended).toMatchObject({ status: 'failed', errorCode: 'sandbox.out_of_memory' });
    expect(await run({ argv: ['true'] })).toMatchObject({ status: 'succeeded' });
  });

  it('ENG-51 runs as the owner of the folder', async () => {
    const ended = await run({ shell: 'id -u; id -g; touch /workspace/made; stat -c %u:%g /workspace/made' });
    expect((await fixture.output(ended.runId)).all).toBe('1000\n1000\n1000:1000\n');
  });

  it('ENG-26 leaves one wide line of each run', async () => {
    const ended = await run({ shell: 'echo x; exit 7' });
    const lines = fixture.logged().filter(({ msg, run_id }) => msg === 'run finished' && run_id === ended.runId);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      kind: 'command',
      status: 'failed',
      exit_code: 7,
      error_code: null,
      correlation_id: ended.correlationId,
      host_id: ended.hostId,
    });
    for (const duration of ['queue_wait_ms', 'sandbox_ms', 'first_output_ms', 'active_ms']) {
      expect(lines[0]?.[duration]).toEqual(expect.any(Number));
    }
  });

  it('ENG-50 starts one sandbox for all runs of a project and says so once', async () => {
    const types = (await fixture.eventsOf(project.projectId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'sandbox.started')).toHaveLength(1);
    expect(await fixture.runtime.list()).toHaveLength(1);
  });
});
