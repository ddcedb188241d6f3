// Random schedules of enqueue, claim, finish and cancel against the pure promotion: the model that came before the SQL.
import fc from 'fast-check';
import { choosePromotions, chooseReturns } from './lane-promotion.js';

interface ModelRun {
  runId: string;
  lane: string;
  sessionId: string | null;
  position: number;
  status: 'queued' | 'active' | 'done';
}

type Step =
  | { op: 'enqueue'; lane: string; session: string | null }
  | { op: 'finish'; pick: number }
  | { op: 'cancel'; pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    op: fc.constant('enqueue' as const),
    lane: fc.constantFrom('main', 'a', 'b'),
    session: fc.constantFrom(null, 's1', 's2'),
  }),
  fc.record({ op: fc.constant('finish' as const), pick: fc.nat(20) }),
  fc.record({ op: fc.constant('cancel' as const), pick: fc.nat(20) }),
);

class Model {
  readonly runs: ModelRun[] = [];
  readonly started: ModelRun[] = [];

  apply(action: Step): void {
    if (action.op === 'enqueue') {
      const position = this.runs.length;
      const { lane, session: sessionId } = action;
      this.runs.push({ runId: `r${position}`, lane, sessionId, position, status: 'queued' });
    } else {
      const wanted = action.op === 'finish' ? 'active' : 'queued';
      const candidates = this.runs.filter((run) => run.status === wanted);
      const run = candidates[action.pick % Math.max(1, candidates.length)];
      if (run !== undefined) run.status = 'done';
    }
    this.promote();
  }

  promote(): void {
    const active = this.runs.filter((run) => run.status === 'active');
    const lanes = [...new Set(this.runs.map((run) => run.lane))];
    const waiting = lanes.flatMap((lane) => {
      const first = this.runs.find((run) => run.lane === lane && run.status === 'queued');
      return first === undefined ? [] : [first];
    });
    const chosen = choosePromotions({
      waiting,
      busyLanes: active.map((run) => run.lane),
      busySessions: active.flatMap((run) => (run.sessionId === null ? [] : [run.sessionId])),
    });
    for (const run of this.runs) {
      if (!chosen.includes(run.runId)) continue;
      run.status = 'active';
      this.started.push(run);
    }
  }

  /** Nobody waits whose lane and conversation are both free. */
  stuck(): ModelRun[] {
    const active = this.runs.filter((run) => run.status === 'active');
    return this.runs.filter(
      (run) =>
        run.status === 'queued' &&
        !this.runs.some(
          (other) => other.lane === run.lane && other.status === 'queued' && other.position < run.position,
        ) &&
        !active.some(
          (other) => other.lane === run.lane || (run.sessionId !== null && other.sessionId === run.sessionId),
        ),
    );
  }
}

const unique = (values: string[]): boolean => new Set(values).size === values.length;

it('DATA-2 keeps every lane in order with one active run, over random schedules, and leaves nobody stuck', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model();
      for (const action of steps) {
        model.apply(action);
        const active = model.runs.filter((run) => run.status === 'active');
        expect(unique(active.map((run) => run.lane))).toBe(true);
        expect(unique(active.flatMap((run) => (run.sessionId === null ? [] : [run.sessionId])))).toBe(true);
        expect(model.stuck()).toEqual([]);
      }
      for (const lane of ['main', 'a', 'b']) {
        const order = model.started.filter((run) => run.lane === lane).map((run) => run.position);
        expect(order).toEqual([...order].sort((a, b) => a - b));
      }
    }),
    { numRuns: 500 },
  );
});

it('DATA-4 lets nothing pass a run that waits for its conversation', () => {
  const chosen = choosePromotions({
    waiting: [
      { runId: 'r1', lane: 'a', sessionId: 's', position: 1 },
      { runId: 'r2', lane: 'b', sessionId: 's', position: 2 },
      { runId: 'r3', lane: 'c', sessionId: null, position: 3 },
    ],
    busyLanes: [],
    busySessions: [],
  });
  expect(chosen).toEqual(['r1', 'r3']);
  const behind = choosePromotions({
    waiting: [
      { runId: 'r1', lane: 'a', sessionId: 's', position: 1 },
      { runId: 'r2', lane: 'a', sessionId: null, position: 2 },
    ],
    busyLanes: [],
    busySessions: ['s'],
  });
  expect(behind).toEqual([]);
});

it('APR-10 gives a free lane back to the run that was parked first, and none that is taken', () => {
  const ready = [
    { runId: 'late', lane: 'a', sessionId: 's1', parkedAt: 2 },
    { runId: 'early', lane: 'a', sessionId: 's2', parkedAt: 1 },
    { runId: 'other', lane: 'b', sessionId: 's3', parkedAt: 3 },
    { runId: 'held', lane: 'c', sessionId: 's4', parkedAt: 0 },
  ];
  expect(chooseReturns({ ready, busyLanes: ['c'], busySessions: [] })).toEqual(['early', 'other']);
  expect(chooseReturns({ ready, busyLanes: ['b', 'c'], busySessions: ['s2'] })).toEqual(['late']);
});

it('APR-9, QUE-9 passes runs whose conversation a parked run holds, and starts nothing in a paused lane', () => {
  const waiting = [
    { runId: 'same', lane: 'a', sessionId: 's', position: 1 },
    { runId: 'next', lane: 'a', sessionId: null, position: 2 },
    { runId: 'paused', lane: 'b', sessionId: null, position: 3 },
  ];
  const free = { busyLanes: [], busySessions: [] };
  expect(choosePromotions({ waiting, ...free, parkedSessions: ['s'], pausedLanes: ['b'] })).toEqual(['next']);
  expect(choosePromotions({ waiting, ...free })).toEqual(['same', 'paused']);
});
