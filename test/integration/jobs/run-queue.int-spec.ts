import type { Dispatch } from '#domain';
import { newId } from '#kernel';
import { BullRunQueue, RUN_JOB, createRunWorker, type RunJobProcessor, type RunWorker } from '#jobs';
import { Heard } from '#testing';
import { createRedisFixture, ready, type RedisFixture } from './redis-fixture.js';

let fixture: RedisFixture;
let workers: RunWorker[] = [];
const hostId = newId();
const dispatchOf = (dispatchNo = 1): Dispatch => ({
  runId: newId(),
  hostId,
  projectId: newId(),
  dispatchNo,
  correlationId: newId(),
});

async function queue(): Promise<BullRunQueue> {
  const redis = fixture.client('commands');
  return new BullRunQueue(redis, fixture.keys, fixture.report);
}
function work(process: RunJobProcessor, lockMs?: number): RunWorker {
  const redis = fixture.client('queue');
  const { keys, report } = fixture;
  const worker = createRunWorker({ hostId, redis, keys, process, report, ...(lockMs === undefined ? {} : { lockMs }) });
  workers.push(worker);
  return worker;
}
const gate = () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
};

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  workers = [];
  await fixture.close();
});

describe('the run queue', () => {
  it('ENG-1 delivers a dispatch once, however often it is put in while it is there, and keeps nothing of it', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const dispatch = dispatchOf();
    for (let i = 0; i < 3; i += 1) await runs.dispatch(dispatch);
    expect(await runs.jobIds(hostId)).toEqual([RUN_JOB.jobId(dispatch)]);
    const heard = new Heard<Dispatch>();
    const held = gate();
    work(async (got, _token, _signal) => {
      heard.listen(got);
      await held.opened;
    });
    expect(await heard.next()).toEqual(dispatch);
    await runs.dispatch(dispatch);
    held.open();
    const next = { ...dispatch, dispatchNo: 2 };
    await runs.dispatch(next);
    expect(await heard.next()).toEqual(next);
    expect(heard.all).toHaveLength(2);
  });

  it('ENG-1 gives the processor a signal: it takes three plain parameters', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const heard = new Heard<AbortSignal | undefined>();
    work(async (_dispatch, _token, signal) => heard.listen(signal));
    await runs.dispatch(dispatchOf());
    expect(await heard.next()).toBeInstanceOf(AbortSignal);
  });

  it('ENG-1 drops the job of a processor that failed, and reports it: the row in Postgres decides', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const heard = new Heard<Dispatch>();
    work(async (got, _token, _signal) => {
      heard.listen(got);
      if (heard.all.length === 1) throw new Error('broken');
    });
    const [first, second] = [dispatchOf(), dispatchOf()];
    await runs.dispatch(first);
    await heard.next();
    await runs.dispatch(second);
    expect(await heard.next()).toEqual(second);
    expect(heard.all).toHaveLength(2);
    expect(await fixture.problems.next()).toMatchObject({ operation: 'queue.job', error: { message: 'broken' } });
    expect(await runs.jobIds(hostId)).not.toContain(RUN_JOB.jobId(first));
  });

  it('ENG-1 delivers the job of a worker that went away again, any number of times', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const dispatch = dispatchOf();
    await runs.dispatch(dispatch);
    const heard = new Heard<Dispatch>();
    for (let i = 0; i < 4; i += 1) {
      const worker = work(async (got, _token, _signal) => {
        heard.listen(got);
        await new Promise(() => undefined);
      }, 300);
      expect(await heard.next()).toEqual(dispatch);
      await worker.close();
    }
    expect(await runs.jobIds(hostId)).toEqual([RUN_JOB.jobId(dispatch)]);
  }, 20_000);

  it('ENG-2 drops a job whose payload it cannot read, and goes on', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const heard = new Heard<Dispatch>();
    work(async (got, _token, _signal) => heard.listen(got));
    await runs.dispatch({ ...dispatchOf(), runId: 'no-uuid' });
    const good = dispatchOf();
    await runs.dispatch(good);
    expect(await heard.next()).toEqual(good);
    expect(await fixture.problems.next()).toMatchObject({ operation: 'queue.job' });
  });

  it('ENG-40 shows its jobs to the reconciler and removes those that nobody works on', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const [held, waiting] = [dispatchOf(), dispatchOf()];
    const heard = new Heard<Dispatch>();
    await runs.dispatch(held);
    const worker = work(async (got, _token, _signal) => {
      heard.listen(got);
      await new Promise(() => undefined);
    });
    await heard.next();
    expect(await runs.drop(hostId, RUN_JOB.jobId(held))).toBe(false);
    await worker.close();
    await runs.dispatch(waiting);
    expect((await runs.jobIds(hostId)).sort()).toEqual([RUN_JOB.jobId(held), RUN_JOB.jobId(waiting)].sort());
    expect(await runs.drop(hostId, RUN_JOB.jobId(waiting))).toBe(true);
    expect(await runs.jobIds(hostId)).toEqual([RUN_JOB.jobId(held)]);
  });

  it('ENG-4 fails at once while Redis is away, works again on a wiped one, and its worker too', async () => {
    fixture = await createRedisFixture({ started: false });
    const runs = await queue();
    const heard = new Heard<Dispatch>();
    work(async (got, _token, _signal) => heard.listen(got));
    await expect(runs.dispatch(dispatchOf())).rejects.toMatchObject({ code: 'service.unavailable' });
    const until = async (dispatch: Dispatch) => {
      for (;;) {
        try {
          return await runs.dispatch(dispatch);
        } catch {
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    };
    await fixture.server.start();
    const [first, second] = [dispatchOf(), dispatchOf()];
    await until(first);
    expect(await heard.next()).toEqual(first);
    await fixture.server.kill();
    await expect(runs.dispatch(dispatchOf())).rejects.toMatchObject({ code: 'service.unavailable' });
    await fixture.server.start();
    await until(second);
    expect(await heard.next()).toEqual(second);
  }, 20_000);

  it('ENG-4 closes its worker within the deadline though Redis is gone', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const runs = new BullRunQueue(redis, fixture.keys, fixture.report);
    const heard = new Heard<Dispatch>();
    const worker = work(async (got, _token, _signal) => heard.listen(got));
    await runs.dispatch(dispatchOf());
    await heard.next();
    await fixture.server.kill();
    const before = performance.now();
    await worker.close(200);
    expect(performance.now() - before).toBeLessThan(1_500);
  });
});
