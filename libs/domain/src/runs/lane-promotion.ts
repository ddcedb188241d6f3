// Which queued runs go next (R1): pure, so that random schedules can be tried against it.

export interface WaitingRun {
  runId: string;
  lane: string;
  sessionId: string | null;
  position: number;
}

/**
 * Chooses the runs to dispatch. `waiting` holds at least the first queued run of each lane. A lane takes its first run only, never a
 * later one, so order within it holds; a run whose conversation is busy in another lane waits.
 */
export function choosePromotions(state: {
  waiting: WaitingRun[];
  busyLanes: Iterable<string>;
  busySessions: Iterable<string>;
}): string[] {
  const lanes = new Set(state.busyLanes);
  const sessions = new Set(state.busySessions);
  const chosen: string[] = [];
  const inOrder = [...state.waiting].sort((a, b) => a.position - b.position);
  for (const run of inOrder) {
    if (lanes.has(run.lane)) continue;
    lanes.add(run.lane); // whether it goes or waits, nothing behind it may pass
    if (run.sessionId !== null && sessions.has(run.sessionId)) continue;
    if (run.sessionId !== null) sessions.add(run.sessionId);
    chosen.push(run.runId);
  }
  return chosen;
}
