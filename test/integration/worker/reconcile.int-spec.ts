import { stat } from 'node:fs/promises';
import { RUN_JOB } from '#jobs';
import { newId } from '#kernel';
import { until } from '#testing';
import { createWorkerFixture, type WorkerFixture } from './worker-fixture.js';

let fixture: WorkerFixture;
beforeEach(async () => {
  fixture = await createWorkerFixture();
}, 60_000);
afterEach(async () => {
  await fixture.close();
}, 60_000);

const enqueueSilently = async (projectId: string, argv: string[]) => {
  const { result } = await fixture.runs.enqueueCommand({
    projectId,
    userId: fixture.user.userId,
    lane: 'main',
    timeoutMs: 60_000,
    correlationId: newId(),
    argv,
    shellCommand: null,
    workingDir: null,
  });
  return result.run;
};

describe('reconciling', () => {
  it('ENG-40 finds a run whose dispatch was told to nobody', async () => {
    await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const run = await enqueueSilently(project.projectId, ['true']);
    expect(await fixture.ended(run.runId)).toMatchObject({ status: 'succeeded' });
  });

  it('ENG-40 drops the job of a run that is over', async () => {
    await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(project.projectId, { argv: ['true'] });
    const run = await fixture.ended(runId);
    // Nobody takes jobs of this host now, so that only reconciling can remove it.
    const other = { ...fixture.dispatchOf(run), dispatchNo: 9 };
    await fixture.queue.dispatch(other);
    await until(
      'the job is gone',
      async () => !(await fixture.queue.jobIds(run.hostId)).includes(RUN_JOB.jobId(other)),
    );
    expect(await fixture.runs.find(runId)).toMatchObject({ status: 'succeeded' });
  });

  it('ENG-42 promotes a lane that everyone forgot', async () => {
    const first = await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    await first.close();
    const run = await enqueueSilently(project.projectId, ['true']);
    // As if a promotion had been missed: the run is queued again, and its lane is free.
    await fixture.database.db.run(
      (client) =>
        client.$executeRaw`UPDATE run SET status = 'queued', dispatched_at = NULL WHERE id = ${run.runId}::uuid`,
    );
    await fixture.startWorker();
    expect(await fixture.ended(run.runId)).toMatchObject({ status: 'succeeded' });
  });

  it('ENG-43 removes a container without a project and leaves those of other instances alone', async () => {
    const other = await createWorkerFixture();
    try {
      await other.startWorker();
      const theirs = await other.project(other.dataDir);
      await other.ended((await other.command(theirs.projectId, { argv: ['true'] })).runId);

      const first = await fixture.startWorker();
      const ours = await fixture.project(fixture.dataDir);
      const kept = await fixture.project(fixture.dataDir);
      for (const { projectId } of [ours, kept]) {
        await fixture.ended((await fixture.command(projectId, { argv: ['true'] })).runId);
      }
      await first.close();
      await fixture.database.db.run(
        (client) => client.$executeRaw`DELETE FROM project WHERE id = ${ours.projectId}::uuid`,
      );
      await fixture.startWorker();
      await until('it is gone', async () => (await fixture.runtime.list()).length === 1);
      expect((await fixture.runtime.list()).map(({ projectId }) => projectId)).toEqual([kept.projectId]);
      expect(await other.runtime.list()).toHaveLength(1);
    } finally {
      await other.close();
    }
  }, 90_000);

  it('ENG-44 kills a process without a row, and ends a row without a process', async () => {
    const first = await fixture.startWorker();
    const project = await fixture.project(fixture.dataDir);
    const { runId } = await fixture.command(project.projectId, { argv: ['true'] });
    await fixture.ended(runId);
    await first.close();
    const [sandbox] = await fixture.runtime.list();
    if (sandbox === undefined) throw new Error('no sandbox');
    const connection = await fixture.runtime.connect(sandbox.sandboxId, { hostEpoch: 1 });
    const wild = await connection.start({
      processId: newId(),
      argv: ['sleep', '1000'],
      cwd: '/workspace',
      env: {},
      stdin: 'null',
      epoch: 1,
    });
    connection.close();
    const ghost = newId();
    await fixture.database.db.run(
      (client) => client.$executeRaw`INSERT INTO process (id, project_id, sandbox_id, kind, state, fingerprint)
        VALUES (${ghost}::uuid, ${project.projectId}::uuid, ${sandbox.sandboxId}::uuid, 'command', 'live', '')`,
    );
    await fixture.startWorker();
    await until('the ghost is ended', async () =>
      (await fixture.executions.liveProcesses(project.hostId)).every(({ processId }) => processId !== ghost),
    );
    await until('the wild one is killed', () =>
      fixture
        .logged()
        .some(({ msg, process_id }) => /without a row/.test(String(msg)) && process_id === wild.processId),
    );
    const look = await fixture.command(project.projectId, { shell: `grep -lsa '[s]leep' /proc/[0-9]*/cmdline` });
    expect(await fixture.ended(look.runId)).toMatchObject({ exitCode: 1 });
  }, 60_000);

  it('ENG-61, ENG-45 removes a project on request, and finishes a deletion that was begun', async () => {
    const first = await fixture.startWorker();
    const [asked, begun] = [await fixture.project(fixture.dataDir), await fixture.project(fixture.dataDir)];
    for (const { projectId } of [asked, begun]) {
      await fixture.ended((await fixture.command(projectId, { argv: ['touch', '/workspace/mine'] })).runId);
    }
    const remove = (projectId: string) => fixture.hostClient.request(asked.hostId, 'project.remove', { projectId });
    expect(await remove(asked.projectId)).toEqual({ removed: false }); // its deletion has not begun
    await fixture.projects.beginDelete(asked.projectId);
    expect(await remove(asked.projectId)).toEqual({ removed: true });
    expect(await fixture.projects.find(asked.projectId)).toBeUndefined();
    await stat(`${asked.path}/mine`);
    expect(await fixture.runtime.list()).toHaveLength(1);
    await first.close();
    await fixture.projects.beginDelete(begun.projectId);
    await fixture.startWorker();
    await until('it is gone', async () => (await fixture.runtime.list()).length === 0);
    await until('its rows are gone', async () => (await fixture.projects.listDeleting(begun.hostId)).length === 0);
    await stat(`${begun.path}/mine`);
  }, 60_000);

  it('ENG-60 answers a gateway that asks for a folder, within its own roots only', async () => {
    await fixture.startWorker();
    const { hostId } = await fixture.host();
    const root = `${fixture.dataDir}/projects`;
    const ask = (path: string, roots: string[]) =>
      fixture.hostClient.request(hostId, 'project.prepare_path', { path, roots });
    expect(await ask(`${root}/new`, [root])).toEqual({ realPath: `${root}/new`, created: true });
    await expect(ask('/etc/new', ['/etc'])).rejects.toMatchObject({ code: 'project.path_outside_roots' });
  });
});
