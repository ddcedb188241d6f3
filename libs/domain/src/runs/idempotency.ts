// Creating commands may be sent twice; the first result is given again (R6).
import type { Committed } from '../events/committed.js';

export interface IdempotencyClaim {
  userId: string;
  /** Name of the client event. */
  event: string;
  key: string;
  /** SHA-256 of the canonical payload; another payload under the same key is refused. */
  payloadHash: string;
}

/** `replayed`: nothing was created now; `result` is what the first time gave. */
export type Replayable<T> = Committed<T> & { replayed: boolean };
