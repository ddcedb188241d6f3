// Waits for a condition that nothing announces.
import { until } from '#testing';

/** Asks until the condition is met and gives what was seen then; fails long after it should have been. */
export async function eventually<T>(
  look: () => Promise<T>,
  isMet: (seen: T) => boolean,
  deadlineMs = 30_000,
): Promise<T> {
  const { seen } = await until(
    'what the sandbox shows',
    async () => {
      const now = await look();
      return isMet(now) && { seen: now };
    },
    deadlineMs,
  );
  return seen;
}
