// Work that is repeated until told otherwise: never two at once, and a failure does not end it.
import { pause } from './pause.js';

export interface Repeated {
  /** Does it again at once, or right after the one under way. */
  nudge(): void;
  /** Resolves when the one under way is over. */
  stop(): Promise<void>;
}

/** Starts at once. `intervalMs`: from the end of one to the start of the next. */
export function every(intervalMs: number, work: () => Promise<void>, failed: (error: unknown) => void): Repeated {
  const stopped = new AbortController();
  let wake = new AbortController();
  const loop = async () => {
    while (!stopped.signal.aborted) {
      wake = new AbortController();
      try {
        await work();
      } catch (error) {
        failed(error);
      }
      await pause(intervalMs, AbortSignal.any([stopped.signal, wake.signal]));
    }
  };
  const ended = loop();
  return {
    nudge: () => wake.abort(),
    stop: () => {
      stopped.abort();
      return ended;
    },
  };
}
