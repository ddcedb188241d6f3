// Caps on output, and what is deleted by itself, on a real Postgres.
import { newId } from '#kernel';
import type { ClaimedRun, OutputCommit, ProcessRecord, ProjectRecord } from '#domain';
import { PgLostHostStore, PgRetentionStore } from '#persistence';
import { claimFirst, createFixture, createProject, fenceOf, newCommand, type Fixture } from './persistence-fixture.js';

let fixture: Fixture;
let retention: PgRetentionStore;
beforeAll(async () => {
  fixture = await createFixture();
  retention = new PgRetentionStore(fixture.database.db);
});
afterAll(async () => {
  await fixture.database.close();
});

interface Started {
  project: ProjectRecord;
  claimed: ClaimedRun;
  process: ProcessRecord;
}

async function startCommand(project?: ProjectRecord): Promise<Started> {
  const of = project ?? (await createProject(fixture));
  const { result } = await fixture.runs.enqueueCommand(newCommand(fixture, of.projectId));
  const claimed = await claimFirst(fixture, result.run.runId);
  const process = await fixture.execution.beginProcess(fenceOf(claimed), {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: null,
    kind: 'command',
    fingerprint: '',
    tokenHash: null,
  });
  return { project: of, claimed, process };
}

const byteAt = (offset: number): number => (offset * 7 + Math.floor(offset / 251)) % 256;
const bytesOf = (from: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => byteAt(from + index));

function commitOf(
  { claimed, process }: Started,
  from: number,
  lengths: number[],
  maxOutputBytes?: number,
): OutputCommit {
  let offset = from;
  const chunks = lengths.map((length, index) => {
    const chunk = {
      offset,
      channel: index % 2 === 0 ? ('stdout' as const) : ('stderr' as const),
      data: bytesOf(offset, length),
    };
    offset += length;
    return chunk;
  });
  return {
    ...fenceOf(claimed),
    processId: process.processId,
    processEpoch: process.epoch,
    fromOffset: from,
    toOffset: offset,
    chunks,
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
    events: [],
    activeMs: 1,
  };
}

const runIdOf = ({ claimed }: Started): string => claimed.run.runId;
const finish = (started: Started) =>
  fixture.execution.finish(fenceOf(started.claimed), { status: 'succeeded', exitCode: 0, activeMs: 1 });
const headBytes = async ({ project }: Started): Promise<number> =>
  Number(
    (await fixture.database.db.client.projectHead.findUniqueOrThrow({ where: { projectId: project.projectId } }))
      .outputBytes,
  );
const chunksOf = (started: Started) =>
  fixture.database.db.client.outputChunk.findMany({ where: { runId: runIdOf(started) }, orderBy: { offset: 'asc' } });
const age = (started: Started, days: number) =>
  fixture.database.db.client.run.update({
    where: { id: runIdOf(started) },
    data: { finishedAt: new Date(Date.now() - days * 86_400_000) },
  });
async function deleteAll(): Promise<void> {
  while (await retention.deleteExpired(fixture.lease.hostId));
}

/** Every stored byte by its offset; fails when two chunks overlap or a byte is wrong. */
async function storedOffsets(started: Started): Promise<number[]> {
  const offsets: number[] = [];
  for (const { offset, data } of await chunksOf(started)) {
    expect(Number(offset)).toBeGreaterThanOrEqual((offsets.at(-1) ?? -1) + 1);
    data.forEach((byte, index) => {
      expect(byte).toBe(byteAt(Number(offset) + index));
      offsets.push(Number(offset) + index);
    });
  }
  return offsets;
}

const expectedOffsets = (head: number, cap: number): number[] =>
  Array.from({ length: head }, (_, offset) => offset).filter(
    (offset) => head <= cap || offset < Math.floor(cap / 2) || offset >= head - Math.ceil(cap / 2),
  );

it.each([
  ['one chunk at a time', 1_000, Array.from({ length: 40 }, (_, index) => [1 + ((index * 37) % 90)])],
  ['many small chunks', 501, Array.from({ length: 12 }, () => [3, 1, 40, 2, 9, 30])],
  ['chunks larger than the cap', 64, [[10], [300], [1], [500, 500], [2]]],
])('RET-1 keeps the first and the last half of the cap to the byte: %s', async (_, cap, writes) => {
  const started = await startCommand();
  let head = 0;
  for (const lengths of writes) {
    await fixture.execution.commitOutput(commitOf(started, head, lengths, cap));
    head += lengths.reduce((sum, length) => sum + length, 0);
    expect(await storedOffsets(started)).toEqual(expectedOffsets(head, cap));
  }
  const run = await fixture.runs.find(runIdOf(started));
  expect(run).toMatchObject({
    outputBytes: cap,
    outputCut: { from: Math.floor(cap / 2), to: head - Math.ceil(cap / 2) },
  });
  expect(await fixture.output.head(runIdOf(started))).toMatchObject({ headOffset: head, cut: run?.outputCut });
  expect(await fixture.output.nextStored(runIdOf(started), Math.floor(cap / 2))).toBe(run?.outputCut?.to);
  expect(await fixture.output.nextStored(runIdOf(started), 3)).toBe(3);
  expect(await fixture.output.nextStored(runIdOf(started), head)).toBeUndefined();
});

it('RET-1 a cut is fenced like any write: a commit that is repeated or late drops nothing', async () => {
  const started = await startCommand();
  await fixture.execution.commitOutput(commitOf(started, 0, [100], 50));
  await expect(fixture.execution.commitOutput(commitOf(started, 0, [100], 50))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  await expect(fixture.execution.commitOutput(commitOf(started, 300, [100], 50))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  expect(await storedOffsets(started)).toEqual(expectedOffsets(100, 50));
});

it('RET-4 counts what is stored of each run, and of the finished runs of a project', async () => {
  const started = await startCommand();
  await fixture.execution.commitOutput(commitOf(started, 0, [100, 20]));
  expect(await fixture.runs.find(runIdOf(started))).toMatchObject({ outputBytes: 120 });
  expect(await headBytes(started)).toBe(0);
  await finish(started);
  expect(await headBytes(started)).toBe(120);
});

it('RET-5 output that is too old expires at once for readers, then goes in batches; the run and its events stay', async () => {
  const old = await startCommand();
  await fixture.execution.commitOutput(
    commitOf(
      old,
      0,
      Array.from({ length: 200 }, () => 2),
    ),
  );
  await finish(old);
  const events = await fixture.database.db.client.event.count({ where: { runId: runIdOf(old) } });
  const young = await startCommand(old.project);
  await fixture.execution.commitOutput(commitOf(young, 0, [50]));
  await finish(young);
  await age(old, 8);
  await age(young, 6);
  expect(await retention.expireOld(fixture.lease.hostId, { outputDays: 7 }, 100)).toBe(1);
  expect(await fixture.output.head(runIdOf(old))).toMatchObject({
    headOffset: 400,
    expiredAt: expect.any(Date) as Date,
  });
  expect(await fixture.output.read(runIdOf(old), 0, 1000)).toEqual([]);
  expect(await fixture.output.nextStored(runIdOf(old), 0)).toBeUndefined();
  expect(await headBytes(old)).toBe(50);
  expect(await chunksOf(old)).toHaveLength(200);
  expect(await retention.deleteExpired(fixture.lease.hostId)).toBe(true);
  expect((await chunksOf(old)).length).toBeLessThan(200);
  await deleteAll();
  expect(await chunksOf(old)).toEqual([]);
  expect(await fixture.runs.find(runIdOf(old))).toMatchObject({ status: 'succeeded', outputBytes: 0 });
  expect((await chunksOf(young)).length).toBeGreaterThan(0);
  expect(await fixture.database.db.client.event.count({ where: { runId: runIdOf(old) } })).toBe(events);
  expect(await retention.expireOld(fixture.lease.hostId, { outputDays: 7 }, 100)).toBe(0);
});

it('RET-5 a project may set its own days, and 0 keeps output for ever', async () => {
  const [short, forever, usual] = [await startCommand(), await startCommand(), await startCommand()];
  for (const started of [short, forever, usual]) {
    await fixture.execution.commitOutput(commitOf(started, 0, [10]));
    await finish(started);
    await age(started, 3);
  }
  const setDays = (started: Started, days: number) =>
    fixture.database.db.client.project.update({
      where: { id: started.project.projectId },
      data: { settings: { output_retention_days: days } },
    });
  await setDays(short, 2);
  await setDays(forever, 0);
  expect(await retention.expireOld(fixture.lease.hostId, { outputDays: 7 }, 100)).toBe(1);
  expect(await fixture.runs.find(runIdOf(short))).toMatchObject({ outputExpiredAt: expect.any(Date) as Date });
  expect(await retention.expireOld(fixture.lease.hostId, { outputDays: 0 }, 100)).toBe(0);
  expect(await retention.expireOld(fixture.lease.hostId, { outputDays: 1 }, 100)).toBeGreaterThan(0);
  expect(await fixture.runs.find(runIdOf(forever))).toMatchObject({ outputExpiredAt: null });
  expect(await fixture.runs.find(runIdOf(usual))).toMatchObject({ outputExpiredAt: expect.any(Date) as Date });
});

it('RET-6 above the cap of a project the output of the runs that finished first expires, and no more than needed', async () => {
  const project = await createProject(fixture);
  const done: Started[] = [];
  for (let index = 0; index < 4; index += 1) {
    const started = await startCommand(project);
    await fixture.execution.commitOutput(commitOf(started, 0, [100]));
    await finish(started);
    await age(started, 4 - index);
    done.push(started);
  }
  const live = await startCommand(project);
  await fixture.execution.commitOutput(commitOf(live, 0, [100]));
  expect(await retention.expireAboveCap(fixture.lease.hostId, { maxProjectBytes: 350 })).toBe(2);
  const expired = await Promise.all(
    done.map(async (each) => (await fixture.runs.find(runIdOf(each)))?.outputExpiredAt !== null),
  );
  expect(expired).toEqual([true, true, false, false]);
  expect(await retention.expireAboveCap(fixture.lease.hostId, { maxProjectBytes: 350 })).toBe(0);
  await deleteAll();
});

it('RET-7 applied intents and ended processes go after their time; open ones and those of unfinished runs stay', async () => {
  const { client } = fixture.database.db;
  const [over, running] = [await startCommand(), await startCommand()];
  await fixture.runs.cancel(runIdOf(running), fixture.userId);
  await finish(over);
  const long = new Date(Date.now() - 9 * 86_400_000);
  await client.process.updateMany({
    where: { id: { in: [over.process.processId, running.process.processId] } },
    data: { state: 'exited', endedAt: long },
  });
  const intent = {
    hostId: fixture.lease.hostId,
    projectId: over.project.projectId,
    runId: runIdOf(over),
    kind: 'cancel',
  };
  const applied = await client.intent.create({
    data: { ...intent, id: newId(), createdBy: fixture.userId, appliedAt: long },
  });
  while (await retention.purgeRecords(fixture.lease.hostId, 7));
  expect(await client.intent.findUnique({ where: { id: applied.id } })).toBeNull();
  expect(await client.intent.count({ where: { runId: runIdOf(running), appliedAt: null } })).toBe(1);
  expect(await client.process.findUnique({ where: { id: over.process.processId } })).toBeNull();
  expect(await client.process.findUnique({ where: { id: running.process.processId } })).not.toBeNull();
});

it('RET-8 a deleted project with much history goes in batches', async () => {
  const started = await startCommand();
  await fixture.execution.commitOutput(
    commitOf(
      started,
      0,
      Array.from({ length: 150 }, () => 1),
    ),
  );
  await finish(started);
  await fixture.database.db.client.$executeRaw`INSERT INTO event (project_id, seq, id, type, payload)
    SELECT ${started.project.projectId}::uuid, 1000 + n, gen_random_uuid(), 'message.system', '{}' FROM generate_series(1, 5000) n`;
  // Not begun: nothing goes.
  await fixture.projects.finishDelete(started.project.projectId);
  expect(await chunksOf(started)).toHaveLength(150);
  await fixture.projects.beginDelete(started.project.projectId);
  await fixture.projects.finishDelete(started.project.projectId);
  expect(await chunksOf(started)).toEqual([]);
  expect(await fixture.database.db.client.event.count({ where: { projectId: started.project.projectId } })).toBe(0);
  expect(await fixture.database.db.client.project.count({ where: { id: started.project.projectId } })).toBe(0);
});

it('RET-14 what is given up is ended once, and the worker that had it changes nothing any more', async () => {
  const { client } = fixture.database.db;
  const { hostId } = fixture.lease;
  const started = await startCommand();
  const waiting = await fixture.runs.enqueueCommand(newCommand(fixture, started.project.projectId));
  const lost = new PgLostHostStore(fixture.database.db);
  expect(await lost.giveUp([hostId], 1_000)).toEqual([]);
  const past = new Date(Date.now() - 5_000);
  await client.host.update({ where: { id: hostId }, data: { leaseUntil: past, lastSeenAt: past } });
  expect(await lost.unheld()).toMatchObject([{ hostId }]);
  expect(await lost.giveUp([hostId], 60_000)).toEqual([]);
  const announced = (await Promise.all([1, 2, 3].map(() => lost.giveUp([hostId], 1_000)))).flat();
  const ends = announced
    .flatMap(({ events }) => events)
    .filter(({ type, runId }) => type === 'run.finished' && runId === runIdOf(started));
  expect(ends).toHaveLength(1);
  expect(await fixture.runs.find(runIdOf(started))).toMatchObject({ status: 'failed', errorCode: 'sandbox.lost' });
  expect(await fixture.hosts.find(hostId)).toMatchObject({ held: false, lostAt: expect.any(Date) as Date });
  expect(await fixture.runs.find(waiting.result.run.runId)).toMatchObject({ status: 'dispatched', startedAt: null });
  expect(await client.process.findUnique({ where: { id: started.process.processId } })).toMatchObject({
    state: 'lost',
  });
  await expect(fixture.execution.commitOutput(commitOf(started, 0, [5]))).rejects.toMatchObject({
    code: 'write.fenced',
  });
  await expect(finish(started)).rejects.toMatchObject({ code: 'write.fenced' });
  const again = await fixture.hosts.acquire({
    engineId: 'engine-1',
    holderId: newId(),
    leaseMs: 60_000,
    maxRuns: 4,
    projectRoots: ['/srv'],
    info: {},
  });
  expect(again).toBeDefined();
  expect(await fixture.hosts.find(hostId)).toMatchObject({ held: true, lostAt: null });
  expect(await lost.giveUp([hostId], 1_000)).toEqual([]);
});
