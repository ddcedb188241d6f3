import type { Announcement, Dispatch, LiveFrame } from '#domain';
import { AppError, newId } from '#kernel';
import { RedisAnnouncer } from './announcer.adapter.js';
import type { Problem } from './report-problem.port.js';

const projectId = newId();
const dispatchOf = (dispatchNo: number): Dispatch => ({
  runId: newId(),
  hostId: newId(),
  projectId,
  dispatchNo,
  correlationId: newId(),
});
const nothing: Announcement = { projectId, events: [], dispatches: [], wakeHostIds: [] };

function record(dispatch: (dispatch: Dispatch) => Promise<void> = async () => undefined) {
  const heard = { frames: [] as LiveFrame[], wakes: [] as string[], dispatched: [] as Dispatch[] };
  const problems: Problem[] = [];
  const announcer = new RedisAnnouncer({
    queue: {
      dispatch: async (one) => {
        await dispatch(one);
        heard.dispatched.push(one);
      },
    },
    bus: {
      publish: (_project, frame) => heard.frames.push(frame),
      wakeHost: (hostId) => heard.wakes.push(hostId),
    },
    report: (problem) => problems.push(problem),
  });
  return { announcer, heard, problems };
}

describe('RedisAnnouncer', () => {
  it('ENG-1 puts dispatches into the queue, wakes hosts and tells gateways', async () => {
    const { announcer, heard, problems } = record();
    const dispatches = [dispatchOf(1), dispatchOf(2)];
    const queue = { projectId, revision: 1, lanes: [] };
    await announcer.announce({ ...nothing, dispatches, queue, wakeHostIds: ['h'] });
    expect(heard.dispatched).toEqual(dispatches);
    expect(heard.wakes).toEqual(['h']);
    expect(heard.frames).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it('says nothing to gateways when there is nothing to say', async () => {
    const { announcer, heard } = record();
    await announcer.announce(nothing);
    expect(heard.frames).toEqual([]);
  });

  it('ENG-4 survives a queue that cannot be reached: the failure is reported, the others are dispatched', async () => {
    const first = dispatchOf(1);
    const second = dispatchOf(2);
    const { announcer, heard, problems } = record(async (dispatch) => {
      if (dispatch === first) throw new AppError('service.unavailable', 'away');
    });
    await announcer.announce({ ...nothing, dispatches: [first, second] });
    expect(heard.dispatched).toEqual([second]);
    expect(problems).toMatchObject([{ operation: 'queue.dispatch', context: { run_id: first.runId } }]);
  });
});
