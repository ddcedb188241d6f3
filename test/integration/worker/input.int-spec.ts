// Input of commands: numbered, in order, once, to programs that read slowly, not at all, or not any more.
import { until } from '#testing';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await createWorkerFixture();
  await fixture.startWorker();
}, 60_000);
afterAll(() => fixture.close(), 60_000);

it('SES-9 writes what is typed to a command that reads, in order and once, and ends its input', async () => {
  const { projectId } = await fixture.project(fixture.dataDir);
  const { runId } = await fixture.command(projectId, {
    shell: 'while read line; do echo "got $line"; done; echo end',
    stdin: 'pipe',
  });
  // Also before it has started.
  expect(await fixture.type(runId, 1, 'one\n')).toEqual({ duplicate: false });
  await fixture.printed(runId, 'got one');
  expect(await fixture.type(runId, 1, 'other\n')).toEqual({ duplicate: true });
  await expect(fixture.type(runId, 3, 'three\n')).rejects.toMatchObject({
    code: 'run.input_out_of_order',
    details: { expected_input_seq: 2 },
  });
  await fixture.type(runId, 2, 'two\n');
  await fixture.type(runId, 3, 'three\n', true);
  await expect(fixture.type(runId, 4, 'four')).rejects.toMatchObject({ code: 'sandbox.input_closed' });
  expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
  expect((await fixture.output(runId)).stdout).toBe('got one\ngot two\ngot three\nend\n');
  await expect(fixture.type(runId, 4, 'four')).rejects.toMatchObject({ code: 'run.not_active' });
  const rows = await fixture.database.db.run((client) => client.intent.findMany({ where: { runId, kind: 'stdin' } }));
  expect(rows.map(({ payload }) => Object.keys(payload as object).sort())).toEqual(
    Array.from({ length: 3 }, () => ['eof', 'input_seq']),
  );
}, 60_000);

it('SES-9 is refused where a command has no stdin, and where it was closed', async () => {
  const { projectId } = await fixture.project(fixture.dataDir);
  const deaf = await fixture.command(projectId, { shell: 'cat; sleep 1000' });
  await fixture.when(deaf.runId, ({ status }) => status === 'running');
  await expect(fixture.type(deaf.runId, 1, 'x')).rejects.toMatchObject({ code: 'sandbox.input_closed' });
  await fixture.cancel(deaf.runId);
  await fixture.ended(deaf.runId);
  const closed = await fixture.command(projectId, { shell: 'exec <&-; echo closed; sleep 1000', stdin: 'pipe' });
  await fixture.printed(closed.runId, 'closed');
  await until('it is seen that nobody reads', async () => {
    const head = await fixture.database.db.run((client) =>
      client.run.findUniqueOrThrow({ where: { id: closed.runId } }),
    );
    if (head.inputEnded) return true;
    await fixture.type(closed.runId, head.inputSeq + 1, 'x').catch(() => undefined);
    return false;
  });
  await fixture.cancel(closed.runId);
  await fixture.ended(closed.runId);
}, 60_000);

it('SES-9 is refused with a time to try again when a program does not read, and nothing is lost', async () => {
  const { projectId } = await fixture.project(fixture.dataDir);
  const { runId } = await fixture.command(projectId, {
    shell: 'echo up; while [ ! -e go ]; do sleep 0.1; done; sha256sum',
    stdin: 'pipe',
  });
  await fixture.printed(runId, 'up');
  const piece = 'x'.repeat(60_000);
  let taken = 0;
  const fill = async (): Promise<unknown> => {
    for (;;) {
      try {
        await fixture.type(runId, taken + 1, piece);
        taken += 1;
      } catch (error) {
        return error;
      }
    }
  };
  const full = await fill();
  expect(full).toMatchObject({ code: 'sandbox.input_full', retryAfterMs: expect.any(Number) as number });
  await fixture.command(projectId, { shell: 'touch go', lane: 'other' });
  await until('there is room', async () => {
    try {
      await fixture.type(runId, taken + 1, '', true);
      return true;
    } catch {
      return false;
    }
  });
  expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
  const { createHash } = await import('node:crypto');
  const wanted = createHash('sha256').update(piece.repeat(taken)).digest('hex');
  expect((await fixture.output(runId)).stdout).toContain(wanted);
}, 120_000);
