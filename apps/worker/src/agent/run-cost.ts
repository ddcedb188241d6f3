// What one run cost, from an agent that reports running totals (R7).

export interface ReportedCost {
  /** The agent's running total, US dollars. */
  totalUsd: number;
  /** What the agent says it spent since the result before, if it says so. */
  sinceLastUsd?: number;
}

/**
 * The cost of a run that ended with this report. `lastTotalUsd` is the total that was recorded for the process before; 0 for
 * a process that has not ended a run yet.
 *
 * Measured on Claude Code 2.1.330: a process counts on; one started with `--resume` begins at the total that its transcript
 * saved, and a turn that was interrupted or killed is not in there. So only within one process is the difference exact; the
 * first result of a process is taken at the agent's own word for what came since.
 */
export function costOfRun(report: ReportedCost, lastTotalUsd: number, conversationUsd: number): number {
  if (lastTotalUsd > 0 && report.totalUsd >= lastTotalUsd) return roundUsd(report.totalUsd - lastTotalUsd);
  if (report.sinceLastUsd !== undefined) return roundUsd(report.sinceLastUsd);
  if (report.totalUsd >= conversationUsd) return roundUsd(report.totalUsd - conversationUsd);
  return roundUsd(report.totalUsd);
}

/** To the six decimals that the database keeps. */
const roundUsd = (usd: number): number => Math.round(usd * 1e6) / 1e6;
