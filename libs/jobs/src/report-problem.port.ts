// How this library tells of what it survived: it neither logs nor counts itself.

export interface Problem {
  /** What was being done, e.g. `live.publish`. */
  operation: string;
  error: unknown;
  /** How many of the same kind were left unreported since the last report. */
  repeated?: number;
  context?: Record<string, unknown>;
}

export type ReportProblem = (problem: Problem) => void;

/**
 * Lets at most one problem of each operation through per interval and counts the others: a Redis that is away must not flood
 * the log. `nowMs` is monotonic.
 */
export function limitReports(report: ReportProblem, intervalMs: number, nowMs: () => number): ReportProblem {
  const seen = new Map<string, { at: number; repeated: number }>();
  return (problem) => {
    const last = seen.get(problem.operation);
    const now = nowMs();
    if (last !== undefined && now - last.at < intervalMs) {
      last.repeated += 1;
      return;
    }
    seen.set(problem.operation, { at: now, repeated: 0 });
    report(last === undefined || last.repeated === 0 ? problem : { ...problem, repeated: last.repeated });
  };
}
