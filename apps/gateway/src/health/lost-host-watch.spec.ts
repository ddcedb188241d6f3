// When a host counts as gone.
import { createLogger } from '#observability';
import { LostHostWatch } from './lost-host-watch.js';

function watch({ graceMs = 100, everyMs = 10 } = {}) {
  const state = { now: 0, unheld: [{ hostId: 'h', epoch: 1 }], away: false, givenUp: [] as string[][] };
  const made = new LostHostWatch({
    store: {
      unheld: async () => {
        if (state.away) throw new Error('away');
        return state.unheld;
      },
      giveUp: async (hostIds) => {
        state.givenUp.push(hostIds);
        return [];
      },
    },
    announcer: { announce: async () => undefined },
    graceMs,
    everyMs,
    logger: createLogger({ service: 'test', level: 'silent' }),
    clock: { monotonicMs: () => state.now, now: () => new Date(0) },
  });
  const pass = async (ms: number) => {
    for (const end = state.now + ms; state.now < end;) {
      state.now += everyMs;
      await made.look();
    }
  };
  return { state, pass };
}

it('RET-12 gives a host up once, after it saw it without a worker for the whole time of grace', async () => {
  const { state, pass } = watch();
  await pass(100);
  expect(state.givenUp).toEqual([]);
  await pass(10);
  expect(state.givenUp).toEqual([['h']]);
  await pass(500);
  expect(state.givenUp).toHaveLength(1);
});

it('RET-12 counts anew when the database was away, when it did not look itself, and when somebody held the host meanwhile', async () => {
  const { state, pass } = watch();
  await pass(90);
  state.away = true;
  await pass(20);
  state.away = false;
  await pass(90);
  expect(state.givenUp).toEqual([]);
  state.now += 1_000;
  await pass(90);
  expect(state.givenUp).toEqual([]);
  state.unheld = [{ hostId: 'h', epoch: 2 }];
  await pass(90);
  state.unheld = [];
  await pass(10);
  state.unheld = [{ hostId: 'h', epoch: 2 }];
  await pass(90);
  expect(state.givenUp).toEqual([]);
  await pass(30);
  expect(state.givenUp).toEqual([['h']]);
});
