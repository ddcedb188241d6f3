// Waits for a condition that nothing announces.
import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the condition is met; fails with what was last seen, long after it should have been. */
export async function eventually<T>(
  look: () => Promise<T>,
  isMet: (seen: T) => boolean,
  deadlineMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (isMet(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`This was never met; last seen: ${JSON.stringify(seen)}`);
    await sleep(10);
  }
}
