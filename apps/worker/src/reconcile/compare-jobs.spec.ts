import fc from 'fast-check';
import type { Dispatch } from '#domain';
import { newId, type RunStatus } from '#kernel';
import { RUN_JOB } from '#jobs';
import { compareJobs } from './compare-jobs.js';

const active = (status: RunStatus = 'dispatched', dispatchNo = 1): Dispatch & { status: RunStatus } => ({
  runId: newId(),
  hostId: newId(),
  projectId: newId(),
  dispatchNo,
  correlationId: newId(),
  status,
});
const none = () => false;

describe('compareJobs', () => {
  it('ENG-40 gives a dispatched run without a job its job back', () => {
    const [lost, queued] = [active(), active()];
    const jobIds = [RUN_JOB.jobId(queued)];
    const repairs = compareJobs({ active: [lost, queued], isAttached: none, jobIds, first: false });
    expect(repairs).toEqual({ attach: [], dispatch: [lost], drop: [] });
  });

  it('ENG-40 works on a dispatched run without a job while Redis is away', () => {
    const run = active();
    const repairs = compareJobs({ active: [run], isAttached: none, jobIds: undefined, first: false });
    expect(repairs).toEqual({ attach: [run], dispatch: [], drop: [] });
  });

  it('ENG-40 drops jobs of runs that are over or were dispatched anew, and no job that is not ours', () => {
    const again = active('dispatched', 2);
    const stale = RUN_JOB.jobId({ ...again, dispatchNo: 1 });
    const over = RUN_JOB.jobId(active());
    const jobIds = [stale, over, 'something else', RUN_JOB.jobId(again)];
    const repairs = compareJobs({ active: [again], isAttached: none, jobIds, first: false });
    expect(repairs).toEqual({ attach: [], dispatch: [], drop: [stale, over] });
  });

  it.each<RunStatus>(['running', 'waiting', 'paused'])(
    'ENG-41 goes on at once with a run that is %s and that nobody here works on',
    (status) => {
      const run = active(status);
      const jobIds = [RUN_JOB.jobId(run)];
      expect(compareJobs({ active: [run], isAttached: none, jobIds, first: false }).attach).toEqual([run]);
      expect(compareJobs({ active: [run], isAttached: () => true, jobIds: [], first: false })).toEqual({
        attach: [],
        dispatch: [],
        drop: [],
      });
    },
  );

  it('ENG-41 takes over everything at first: what an earlier worker had taken may still be locked in the queue', () => {
    const run = active();
    const jobIds = [RUN_JOB.jobId(run)];
    expect(compareJobs({ active: [run], isAttached: none, jobIds, first: true }).attach).toEqual([run]);
  });

  it('ENG-40 leaves no active run without someone who will work on it', () => {
    const run = fc.record({
      status: fc.constantFrom<RunStatus>('dispatched', 'running', 'waiting', 'paused'),
      attached: fc.boolean(),
      queued: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(run), fc.boolean(), fc.boolean(), (runs, first, redis) => {
        const rows = runs.map((one) => ({ ...one, row: active(one.status) }));
        const attached = new Set(rows.flatMap((one) => (one.attached ? [one.row.runId] : [])));
        const queued = rows.flatMap((one) => (one.queued && redis ? [RUN_JOB.jobId(one.row)] : []));
        const repairs = compareJobs({
          active: rows.map(({ row }) => row),
          isAttached: (runId) => attached.has(runId),
          jobIds: redis ? queued : undefined,
          first,
        });
        const helped = new Set([...repairs.attach, ...repairs.dispatch].map(({ runId }) => runId));
        for (const { row } of rows) {
          const cared = attached.has(row.runId) || helped.has(row.runId) || queued.includes(RUN_JOB.jobId(row));
          expect(cared).toBe(true);
        }
        expect(repairs.drop).toEqual([]);
      }),
    );
  });
});
