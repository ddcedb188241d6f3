import type { Dispatch } from '#domain';
import { newId } from '#kernel';
import type { RunAttachment } from './run-attachment.js';
import { RunRegistry } from './run-registry.js';
import { createRunProcessor } from './run.processor.js';

const dispatchOf = (runId: string, dispatchNo = 1): Dispatch => ({
  runId,
  hostId: newId(),
  projectId: newId(),
  dispatchNo,
  correlationId: newId(),
});

/** Attachments that end when told to, and what was asked of them. */
function registry() {
  const made: { dispatch: Dispatch; end: () => void; asked: string[] }[] = [];
  const runs = new RunRegistry((dispatch) => {
    const asked: string[] = [];
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    const leave = (what: string) => {
      asked.push(what);
      end();
    };
    made.push({ dispatch, end: () => end(), asked });
    return {
      dispatch,
      done,
      stop: ({ kind }: { kind: string }) => leave(kind),
      detach: () => leave('detach'),
    } as unknown as RunAttachment;
  });
  return { runs, made };
}

describe('RunRegistry', () => {
  it('ENG-20 attaches a run once; a second delivery joins the first', async () => {
    const { runs, made } = registry();
    const runId = newId();
    const process = createRunProcessor(runs);
    let joined = 0;
    const deliveries = [1, 1, 1].map(async (no) => {
      await process(dispatchOf(runId, no), undefined, undefined);
      joined += 1;
    });
    expect(made).toHaveLength(1);
    await Promise.resolve();
    expect(joined).toBe(0);
    made[0]?.end();
    await Promise.all(deliveries);
    expect(joined).toBe(3);
    expect(runs.find(runId)).toBeUndefined();
  });

  it('ENG-20 attaches a newer dispatch after the older one has ended, and an older one never', async () => {
    const { runs, made } = registry();
    const runId = newId();
    const first = runs.attach(dispatchOf(runId, 2));
    const older = runs.attach(dispatchOf(runId, 1));
    const newer = runs.attach(dispatchOf(runId, 3));
    made[0]?.end();
    await Promise.all([first, older]);
    expect(made.map(({ dispatch }) => dispatch.dispatchNo)).toEqual([2, 3]);
    made[1]?.end();
    await newer;
  });

  it('ENG-14 lets go of all runs and takes no other', async () => {
    const { runs, made } = registry();
    void runs.attach(dispatchOf(newId()));
    void runs.attach(dispatchOf(newId()));
    await runs.detachAll();
    expect(made.map(({ asked }) => asked)).toEqual([['detach'], ['detach']]);
    await runs.attach(dispatchOf(newId()));
    expect(made).toHaveLength(2);
  });

  it('ENG-15 ends all runs and takes no other', async () => {
    const { runs, made } = registry();
    void runs.attach(dispatchOf(newId()));
    await runs.stopAll({ kind: 'shutdown' });
    expect(made[0]?.asked).toEqual(['shutdown']);
    await runs.attach(dispatchOf(newId()));
    expect(made).toHaveLength(1);
  });

  it('ENG-1 has a processor of three plain parameters, without which BullMQ makes no signal', () => {
    expect(createRunProcessor(registry().runs)).toHaveLength(3);
  });
});
