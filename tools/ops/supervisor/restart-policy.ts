// When a service that died is started again: at once the first time, later and later after that, and in the end not at all (OPS-5).

/** A process that lived this long was healthy: counting starts again. */
export const HEALTHY_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;
/** About three minutes of trying. */
export const MOST_FAILURES = 24;

export interface RestartDecision {
  /** Failures in a row, this one included. */
  failures: number;
  /** Pause before the next start; undefined: give up. */
  delayMs: number | undefined;
}

/** `failures`: those in a row before this one; `livedMs`: how long the process lived. */
export function decideRestart(failures: number, livedMs: number): RestartDecision {
  const inARow = livedMs >= HEALTHY_AFTER_MS ? 1 : failures + 1;
  if (inARow > MOST_FAILURES) return { failures: inARow, delayMs: undefined };
  return { failures: inARow, delayMs: Math.min(FIRST_DELAY_MS * 2 ** (inARow - 1), LONGEST_DELAY_MS) };
}
