// Waiting for a fact that another process makes true and sends no event about.
import { setTimeout as delay } from 'node:timers/promises';

const ASK_MS = 25;

/** Asks until there is an answer (not undefined, not false). Throws at the deadline, or what the question throws. */
export async function until<T>(
  what: string,
  question: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 20_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  while (performance.now() < end) {
    const answer = await question();
    if (answer !== undefined && answer !== false) return answer;
    await delay(ASK_MS);
  }
  throw new Error(`${what}: not within ${deadlineMs} ms`);
}
