// Time as a port, so that tests need no sleeps.
export interface Clock {
  now(): Date;
  /** Milliseconds of a monotonic clock, for durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => globalThis.performance.now(),
};
