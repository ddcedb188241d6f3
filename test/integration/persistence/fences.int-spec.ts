// Fencing, exactly-once ingestion and leases, on a real Postgres.
import { newId } from '#kernel';
import type { ClaimedRun, OutputCommit, ProcessRecord } from '#domain';
import { createDatabase, hashToken } from '#persistence';
import {
  claimFirst,
  createFixture,
  createProject,
  fenceOf,
  newCommand,
  newPrompt,
  type Fixture,
} from './persistence-fixture.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.database.close();
});

async function startCommand(): Promise<{ claimed: ClaimedRun; process: ProcessRecord }> {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const process = await fixture.execution.beginProcess(fenceOf(claimed), {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: null,
    kind: 'command',
    fingerprint: '',
    tokenHash: null,
  });
  return { claimed, process };
}

const commitOf = (
  { claimed, process }: { claimed: ClaimedRun; process: ProcessRecord },
  fromOffset: number,
  text: string,
): OutputCommit => ({
  ...fenceOf(claimed),
  processId: process.processId,
  processEpoch: process.epoch,
  fromOffset,
  toOffset: fromOffset + text.length,
  chunks: [{ offset: fromOffset, channel: 'stdout', data: new TextEncoder().encode(text) }],
  events: [],
  activeMs: 1,
});

it('DATA-6 a worker whose run was claimed again writes nothing', async () => {
  const started = await startCommand();
  await fixture.execution.commitOutput(commitOf(started, 0, 'abc'));
  const again = await fixture.execution.claim(
    { runId: started.claimed.run.runId, dispatchNo: started.claimed.run.dispatchNo },
    fixture.lease,
  );
  expect(again?.result).toMatchObject({ resumed: true, process: { outOffset: 3 } });
  await expect(fixture.execution.commitOutput(commitOf(started, 3, 'def'))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  await expect(
    fixture.execution.finish(fenceOf(started.claimed), { status: 'succeeded', activeMs: 1 }),
  ).rejects.toMatchObject({ code: 'write.fenced' });
  expect((await fixture.output.head(started.claimed.run.runId))?.headOffset).toBe(3);
});

it('DATA-6 an old process epoch and a wrong offset write nothing', async () => {
  const started = await startCommand();
  await expect(fixture.execution.commitOutput(commitOf(started, 5, 'x'))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  const adopted = await fixture.execution.adoptProcess(fenceOf(started.claimed), started.process.processId);
  expect(adopted.process.epoch).toBe(started.process.epoch + 1);
  await expect(fixture.execution.commitOutput(commitOf(started, 0, 'x'))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  expect(await fixture.output.read(started.claimed.run.runId, 0, 100)).toEqual([]);
});

it('DATA-7 output, events and offset are one: a refused commit leaves no event', async () => {
  const started = await startCommand();
  const before = await fixture.events.heads([started.claimed.run.projectId]);
  const commit = commitOf(started, 7, 'x');
  commit.events = [{ type: 'message.system', payload: { subtype: 'test' } }];
  await expect(fixture.execution.commitOutput(commit)).rejects.toMatchObject({ code: 'write.fenced' });
  expect(await fixture.events.heads([started.claimed.run.projectId])).toEqual(before);
});

it('DATA-7 reads stored output from any offset', async () => {
  const started = await startCommand();
  await fixture.execution.commitOutput(commitOf(started, 0, 'hello '));
  await fixture.execution.commitOutput(commitOf(started, 6, 'world'));
  const chunks = await fixture.output.read(started.claimed.run.runId, 3, 6);
  expect(chunks.map((chunk) => [chunk.offset, Buffer.from(chunk.data).toString()])).toEqual([
    [3, 'lo '],
    [6, 'wor'],
  ]);
});

it('DATA-12 a lost lease claims nothing, and each taking raises the epoch', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  await expect(
    fixture.execution.claim(
      { runId: result.run.runId, dispatchNo: 1 },
      { ...fixture.lease, epoch: fixture.lease.epoch - 1 },
    ),
  ).rejects.toMatchObject({ code: 'host.lease_lost' });
  const request = { engineId: 'engine-2', leaseMs: 60_000, maxRuns: 1, projectRoots: [], info: {} };
  const held = await fixture.hosts.acquire({ ...request, holderId: newId() });
  expect(held).toBeDefined();
  expect(await fixture.hosts.acquire({ ...request, holderId: newId() })).toBeUndefined();
  if (held !== undefined) await fixture.hosts.release(held);
  const next = await fixture.hosts.acquire({ ...request, holderId: newId() });
  expect(next?.epoch).toBe((held?.epoch ?? 0) + 1);
  expect(held === undefined ? true : await fixture.hosts.renew(held, 1000)).toBe(false);
});

it('DATA-6 a job of an earlier dispatch is stale', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId));
  expect(await fixture.execution.claim({ runId: result.run.runId, dispatchNo: 0 }, fixture.lease)).toBeUndefined();
});

it('DATA-19 the broker knows a live process by its token and no ended one', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueuePrompt(newPrompt(fixture, project.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const processId = newId();
  await fixture.execution.beginProcess(fenceOf(claimed), {
    processId,
    sandboxId: claimed.sandboxId,
    sessionId: result.run.sessionId,
    kind: 'agent',
    fingerprint: '',
    tokenHash: hashToken('secret-of-the-process'),
  });
  expect(await fixture.directory.findOwner('secret-of-the-process')).toEqual({
    processId,
    projectId: project.projectId,
    sessionId: result.run.sessionId,
    runId: result.run.runId,
  });
  expect(await fixture.directory.findOwner('another')).toBeUndefined();
  const guard = { processEpoch: 1, lease: fixture.lease };
  await fixture.execution.processEnded(processId, { state: 'exited', exitCode: 0 }, guard);
  expect(await fixture.directory.findOwner('secret-of-the-process')).toBeUndefined();
});

describe('the end of a process', () => {
  const stateOf = async (processId: string) => {
    const row = await fixture.database.db.run((client) => client.process.findUnique({ where: { id: processId } }));
    return row?.state;
  };
  const lost = { state: 'lost' } as const;

  it('DATA-21 is not written down by a worker whose lease another one has taken, whatever it has read since', async () => {
    const { process } = await startCommand();
    const { processId } = process;
    const asleep = fixture.lease;
    await fixture.database.db.run(
      (client) => client.$executeRaw`UPDATE host SET lease_until = clock_timestamp() - interval '1 second'
        WHERE id = ${asleep.hostId}::uuid`,
    );
    // Expired and not taken yet: it is too late already.
    const stale = { processEpoch: process.epoch, lease: asleep };
    await expect(fixture.execution.processEnded(processId, lost, stale)).rejects.toMatchObject({
      code: 'write.fenced',
    });
    const held = { leaseMs: 60_000, maxRuns: 4, projectRoots: ['/srv'], info: {} };
    const taken = await fixture.hosts.acquire({ ...held, engineId: 'engine-1', holderId: newId() });
    if (taken === undefined) throw new Error('the lease was not free');
    fixture.lease = taken;
    const fresh = (await fixture.execution.liveProcesses(asleep.hostId)).find((row) => row.processId === processId);
    const awake = { processEpoch: fresh?.epoch ?? 0, lease: asleep };
    await expect(fixture.execution.processEnded(processId, lost, awake)).rejects.toMatchObject({
      code: 'write.fenced',
    });
    expect(await stateOf(processId)).toBe('starting');
    await fixture.execution.processEnded(processId, lost, { ...awake, lease: taken });
    expect(await stateOf(processId)).toBe('lost');
  });

  it('DATA-21 is not written down under an epoch of before, nor by the holder of another host', async () => {
    const { claimed, process } = await startCommand();
    const { processId, epoch } = process;
    await fixture.execution.adoptProcess(fenceOf(claimed), processId);
    const other = await fixture.hosts.acquire({
      engineId: newId(),
      holderId: newId(),
      leaseMs: 60_000,
      maxRuns: 1,
      projectRoots: [],
      info: {},
    });
    if (other === undefined) throw new Error('a new host was held');
    for (const guard of [
      { processEpoch: epoch, lease: fixture.lease },
      { processEpoch: epoch + 1, lease: other },
    ]) {
      await expect(fixture.execution.processEnded(processId, lost, guard)).rejects.toMatchObject({
        code: 'write.fenced',
      });
    }
    expect(await stateOf(processId)).toBe('starting');
  });

  it('DATA-21 is written down once: what ended, or went with its project, stays as it is', async () => {
    const { process } = await startCommand();
    const guard = { processEpoch: process.epoch, lease: fixture.lease };
    await fixture.execution.processEnded(process.processId, { state: 'exited', exitCode: 0 }, guard);
    await fixture.execution.processEnded(process.processId, lost, { ...guard, processEpoch: 99 });
    expect(await stateOf(process.processId)).toBe('exited');
    await fixture.execution.processEnded(newId(), lost, guard);
  });

  it('DATA-22 is written down with the end of a run that gives it up, or not at all', async () => {
    const { claimed, process } = await startCommand();
    const outcome = { status: 'failed', activeMs: 1, abandonsProcess: true } as const;
    const old = { ...fenceOf(claimed), runEpoch: claimed.run.epoch - 1 };
    await expect(fixture.execution.finish(old, outcome)).rejects.toMatchObject({ code: 'write.fenced' });
    expect(await stateOf(process.processId)).toBe('starting');
    await fixture.execution.finish(fenceOf(claimed), outcome);
    expect(await stateOf(process.processId)).toBe('lost');
  });
});

it('DATA-26 a transaction that stands still is ended by Postgres, so that a frozen worker holds no lock', async () => {
  const project = await createProject(fixture);
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, project.projectId, {}));
  const frozen = createDatabase(fixture.database.url, { poolSize: 1, idleInTransactionMs: 300 });
  let thaw: () => void = () => undefined;
  const frozenFor = new Promise<void>((resolve) => (thaw = resolve));
  let hasLock: () => void = () => undefined;
  const locked = new Promise<void>((resolve) => (hasLock = resolve));
  const standing = frozen
    .transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM project_head WHERE project_id = ${project.projectId}::uuid FOR UPDATE`;
      hasLock();
      await frozenFor;
      await tx.$queryRaw`UPDATE project SET name = 'written by a zombie' WHERE id = ${project.projectId}::uuid`;
    })
    .catch((error: unknown) => error);
  await locked;
  await fixture.runs.cancel(result.run.runId, fixture.userId); // waits for the lock
  thaw();
  expect(await standing).toMatchObject({ code: 'service.unavailable' });
  expect((await fixture.projects.find(project.projectId))?.name).not.toBe('written by a zombie');
  await frozen.close();
});
