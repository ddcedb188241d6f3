// A deterministic simulation of a project's queues: random schedules of all that people, agents and crashes do, against the pure decisions.
import fc from 'fast-check';
import type { RunStatus } from '#kernel';
import { positionBetween, POSITION_GAP } from './lane-order.js';
import { choosePromotions, chooseReturns } from './lane-promotion.js';
import { isFinal, requireTransition } from './run-lifecycle.js';

interface SimulatedRun {
  runId: string;
  lane: string;
  sessionId: string | null;
  position: number;
  status: RunStatus;
  questions: number;
  parkedAt: number;
}

const HOLDING: readonly RunStatus[] = ['dispatched', 'running', 'waiting', 'paused'];

/** The rows of one project, and what each change does to them before anybody else may look. */
class Project {
  readonly runs: SimulatedRun[] = [];
  readonly paused = new Set<string>();
  private clock = 0;

  /** `fewest`: promotion is told of the first eligible run of each lane only, as the database gives them; else of all. */
  constructor(private readonly fewest: boolean) {}

  private last = 0;

  of(...statuses: RunStatus[]): SimulatedRun[] {
    return this.runs.filter(({ status }) => statuses.includes(status));
  }

  queue(lane: string): SimulatedRun[] {
    return this.of('queued')
      .filter((run) => run.lane === lane)
      .sort((a, b) => a.position - b.position);
  }

  enqueue(lane: string, sessionId: string | null, ahead: boolean): void {
    this.last += POSITION_GAP;
    const first = this.queue(lane)[0];
    const position = ahead && first !== undefined ? first.position - POSITION_GAP : this.last;
    const runId = `r${this.runs.length}`;
    this.runs.push({ runId, lane, sessionId, position, status: 'queued', questions: 0, parkedAt: 0 });
  }

  move(run: SimulatedRun, before: SimulatedRun | undefined): void {
    if (before === undefined) {
      this.last += POSITION_GAP;
      run.position = this.last;
      return;
    }
    if (before === run || before.lane !== run.lane) return;
    const others = this.queue(run.lane).filter((each) => each !== run);
    const place = positionBetween(others[others.indexOf(before) - 1]?.position, before.position);
    if (place !== undefined) run.position = place;
    else {
      const order = this.queue(run.lane).filter((each) => each !== run);
      order.splice(order.indexOf(before), 0, run);
      for (const each of order) each.position = this.last += POSITION_GAP;
    }
  }

  step(run: SimulatedRun, to: RunStatus): void {
    requireTransition(run.status, to);
    run.status = to;
    if (to === 'parked') run.parkedAt = this.clock += 1;
    if (isFinal(to)) run.questions = 0;
  }

  /** What every transaction does last. Gives the runs that it began, in order. */
  promote(): SimulatedRun[] {
    const holders = this.of(...HOLDING);
    const facts = (held: SimulatedRun[]) => ({
      busyLanes: held.map(({ lane }) => lane),
      busySessions: held.flatMap(({ sessionId }) => sessionId ?? []),
    });
    const ready = this.of('parked').filter(({ questions }) => questions === 0);
    for (const runId of chooseReturns({ ready, ...facts(holders) })) {
      const run = this.run(runId);
      this.step(run, 'waiting');
      const earlier = ready.filter(({ lane, parkedAt }) => lane === run.lane && parkedAt < run.parkedAt);
      if (earlier.length > 0) throw new Error('a run came back before one that was parked earlier');
    }
    const parkedSessions = this.of('parked').flatMap(({ sessionId }) => sessionId ?? []);
    const chosen = choosePromotions({
      waiting: this.fewest ? this.firstEligible(parkedSessions) : this.of('queued'),
      ...facts(this.of(...HOLDING)),
      parkedSessions,
      pausedLanes: this.paused,
    });
    return chosen.map((runId) => {
      this.step(this.run(runId), 'dispatched');
      return this.run(runId);
    });
  }

  firstEligible(parkedSessions: string[]): SimulatedRun[] {
    return LANES.flatMap((lane) => {
      const first = this.queue(lane).find(({ sessionId }) => sessionId === null || !parkedSessions.includes(sessionId));
      return first === undefined ? [] : [first];
    });
  }

  private run(runId: string): SimulatedRun {
    const run = this.runs.find((each) => each.runId === runId);
    if (run === undefined) throw new Error('no such run');
    return run;
  }
}

const LANES = ['main', 'a', 'b'];
const SESSIONS = ['s1', 's2', 's3'];

const picked = fc.nat(50);
const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      lane: fc.constantFrom(...LANES),
      session: fc.constantFrom(null, ...SESSIONS),
      ahead: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('claim' as const), picked }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), picked }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask' as const), picked }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('park' as const), picked }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), picked }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), picked }) },
  fc.record({ do: fc.constant('move' as const), picked, before: fc.option(picked, { nil: undefined }) }),
  fc.record({ do: fc.constant('cancel' as const), picked }),
  fc.record({ do: fc.constant('hold' as const), picked }),
  fc.record({ do: fc.constant('lane' as const), lane: fc.constantFrom(...LANES) }),
  fc.record({ do: fc.constant('crash' as const), picked }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(some: T[], at: number): T | undefined => some[at % Math.max(1, some.length)];

/** One transaction: what somebody does, if it can be done now. */
function change(project: Project, act: Action): void {
  const one = (...statuses: RunStatus[]) => ('picked' in act ? pick(project.of(...statuses), act.picked) : undefined);
  switch (act.do) {
    case 'enqueue':
      return project.enqueue(act.lane, act.session, act.ahead);
    case 'lane':
      if (!project.paused.delete(act.lane)) project.paused.add(act.lane);
      return;
    case 'move': {
      const run = one('queued');
      const before = act.before === undefined ? undefined : pick(project.of('queued'), act.before);
      if (run !== undefined) project.move(run, before);
      return;
    }
    case 'cancel':
      return begin(one('queued'), (run) => project.step(run, 'cancelled'));
    case 'claim':
      return begin(one('dispatched'), (run) => project.step(run, 'running'));
    case 'finish':
      return begin(one('running', 'waiting', 'parked', 'paused'), (run) => project.step(run, 'succeeded'));
    case 'crash':
      return begin(one(...HOLDING, 'parked'), (run) => project.step(run, 'failed'));
    case 'ask':
      return begin(one('running', 'waiting', 'parked'), (run) => {
        if (run.sessionId === null) return;
        run.questions += 1;
        if (run.status === 'running') project.step(run, 'waiting');
      });
    case 'answer':
      return begin(one('waiting', 'parked'), (run) => (run.questions = Math.max(0, run.questions - 1)));
    case 'park':
      return begin(one('waiting'), (run) => run.questions > 0 && project.step(run, 'parked'));
    case 'resume':
      return begin(one('waiting', 'paused'), (run) => run.questions === 0 && project.step(run, 'running'));
    case 'hold':
      return begin(one('running'), (run) => project.step(run, 'paused'));
  }
}

const begin = (run: SimulatedRun | undefined, work: (run: SimulatedRun) => unknown): void => {
  if (run !== undefined) work(run);
};

const unique = (values: string[]): boolean => new Set(values).size === values.length;

/** Runs that could go on or begin now. */
function promotable(project: Project): SimulatedRun[] {
  const holders = project.of(...HOLDING);
  const isFree = (run: SimulatedRun) =>
    !holders.some(({ lane, sessionId }) => lane === run.lane || (sessionId !== null && sessionId === run.sessionId));
  const parked = project.of('parked').flatMap(({ sessionId }) => sessionId ?? []);
  const back = project.of('parked').filter((run) => run.questions === 0 && isFree(run));
  const next = project.firstEligible(parked).filter((run) => !project.paused.has(run.lane) && isFree(run));
  return [...back, ...next];
}

it('QUE-14 keeps order, one run at a time and no lane idle in vain, over random schedules of all that can happen', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(action, { maxLength: 120, size: 'max' }), (fewest, acts) => {
      const project = new Project(fewest);
      for (const act of acts) {
        change(project, act);
        const before = new Map(LANES.map((lane) => [lane, project.queue(lane)]));
        const parked = project.of('parked').flatMap((run) => (run.questions > 0 ? (run.sessionId ?? []) : []));
        for (const begun of project.promote()) {
          expect(project.paused.has(begun.lane)).toBe(false);
          // Whoever is passed could not go whatever happened in the lane: a parked run holds its conversation.
          const passed = (before.get(begun.lane) ?? []).filter(({ position }) => position < begun.position);
          const stillParked = [...parked, ...project.of('parked').flatMap(({ sessionId }) => sessionId ?? [])];
          for (const { sessionId } of passed) expect(stillParked).toContain(sessionId);
        }
        const holders = project.of(...HOLDING);
        expect(unique(holders.map(({ lane }) => lane))).toBe(true);
        expect(unique(holders.flatMap(({ sessionId }) => sessionId ?? []))).toBe(true);
        expect(promotable(project)).toEqual([]);
        for (const lane of LANES)
          expect(unique(project.queue(lane).map(({ position }) => String(position)))).toBe(true);
      }
    }),
    { numRuns: 250 },
  );
});
