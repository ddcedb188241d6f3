import { newId } from '#kernel';
import { parseRunJobId, readRunJob, RUN_JOB, toRunJobPayload } from './job-catalogue.js';

const dispatch = {
  runId: newId(),
  hostId: newId(),
  projectId: newId(),
  dispatchNo: 3,
  correlationId: newId(),
};

describe('the run job', () => {
  it('ENG-1 is named by run and dispatch, and its id can be read back', () => {
    expect(RUN_JOB.jobId(dispatch)).toBe(`${dispatch.runId}-3`);
    expect(parseRunJobId(RUN_JOB.jobId(dispatch))).toEqual({ runId: dispatch.runId, dispatchNo: 3 });
  });

  it.each(['', 'x', newId(), `${newId()}-0`, `${newId()}-1-2`, 'repeat:1'])(
    'ENG-1 takes %p for no id of ours',
    (id) => {
      expect(parseRunJobId(id)).toBeUndefined();
    },
  );

  it('ENG-1 is kept neither after success nor after failure, and never retried', () => {
    expect(RUN_JOB.retention).toEqual({ removeOnComplete: true, removeOnFail: true, attempts: 1 });
  });

  it('ENG-2 reads what it wrote and refuses versions and shapes it does not know', () => {
    const payload = toRunJobPayload(dispatch);
    expect(readRunJob(payload)).toEqual(dispatch);
    expect(readRunJob({ ...payload, version: 2 })).toBeUndefined();
    expect(readRunJob({ ...payload, run_id: 'x' })).toBeUndefined();
    expect(readRunJob(null)).toBeUndefined();
  });
});
