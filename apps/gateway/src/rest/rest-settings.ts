// What the HTTP routes for scripts are given.
import type { OriginRules } from '../transport/origin.js';

export interface RestSettings {
  origins: OriginRules;
  /** Largest body of a request, in bytes. */
  maxBodyBytes: number;
  /** A request that takes longer is answered with `service.timeout`, ms. */
  requestDeadlineMs: number;
  /** Requests of one user that may be under way. */
  maxPending: number;
  /** Time between two looks at a run whose end somebody waits for, in case the word of it was lost, ms. */
  recheckMs: number;
}

export const REST_SETTINGS = Symbol('RestSettings');
