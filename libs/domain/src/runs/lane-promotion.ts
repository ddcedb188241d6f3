// Which runs go next (R1): pure, so that random schedules can be tried against it.

export interface WaitingRun {
  runId: string;
  lane: string;
  sessionId: string | null;
  position: number;
}

/** A parked run whose last question is closed. */
export interface ReadyRun {
  runId: string;
  lane: string;
  sessionId: string | null;
  /** Since when it is parked, ms. */
  parkedAt: number;
}

/**
 * Chooses the parked runs that take their lanes back: they go ahead of every queued run, the one that was parked first before the
 * others. Work that has begun goes on in a paused lane, too.
 */
export function chooseReturns(state: {
  ready: ReadyRun[];
  busyLanes: Iterable<string>;
  busySessions: Iterable<string>;
}): string[] {
  const lanes = new Set(state.busyLanes);
  const sessions = new Set(state.busySessions);
  const chosen: string[] = [];
  for (const run of [...state.ready].sort((a, b) => a.parkedAt - b.parkedAt)) {
    if (lanes.has(run.lane) || (run.sessionId !== null && sessions.has(run.sessionId))) continue;
    lanes.add(run.lane);
    if (run.sessionId !== null) sessions.add(run.sessionId);
    chosen.push(run.runId);
  }
  return chosen;
}

/**
 * Chooses the runs to dispatch. A run is eligible when its lane is not paused and no parked run holds its conversation; `waiting` holds
 * at least the first eligible run of each lane. A lane takes that one only, never a later one, so order within it holds; a run whose
 * conversation is at work in another lane waits, and nothing passes it.
 */
export function choosePromotions(state: {
  waiting: WaitingRun[];
  busyLanes: Iterable<string>;
  busySessions: Iterable<string>;
  pausedLanes?: Iterable<string>;
  parkedSessions?: Iterable<string>;
}): string[] {
  const lanes = new Set([...state.busyLanes, ...(state.pausedLanes ?? [])]);
  const sessions = new Set(state.busySessions);
  const parked = new Set(state.parkedSessions ?? []);
  const chosen: string[] = [];
  const inOrder = [...state.waiting].sort((a, b) => a.position - b.position);
  for (const run of inOrder) {
    if (lanes.has(run.lane)) continue;
    if (run.sessionId !== null && parked.has(run.sessionId)) continue;
    lanes.add(run.lane); // whether it goes or waits, nothing behind it may pass
    if (run.sessionId !== null && sessions.has(run.sessionId)) continue;
    if (run.sessionId !== null) sessions.add(run.sessionId);
    chosen.push(run.runId);
  }
  return chosen;
}
