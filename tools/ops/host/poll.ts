// Waits for a condition outside this process that tells nobody when it becomes true.
import { setTimeout as pause } from 'node:timers/promises';

const PERIOD_MS = 40;

/** Resolves to the first value that is not undefined and not false, or to undefined when `timeoutMs` have passed. */
export async function poll<T>(
  timeoutMs: number,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() >= deadline) return undefined;
    await pause(PERIOD_MS);
  }
}
