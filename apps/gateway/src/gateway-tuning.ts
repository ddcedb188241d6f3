// Times and bounds of a gateway that no operator needs to set; tests make them small.
import { DEFAULT_OUTBOX_BOUNDS, type OutboxBounds } from './transport/outbox.js';

export interface GatewayTuning {
  /** Time between two comparisons of what was delivered with Postgres, ms (R16). */
  tickMs: number;
  /** Time over which clients are sent away at the end, ms (R18). */
  drainSpreadMs: number;
  /** A connection that has not signed in by then is cut, ms. */
  handshakeDeadlineMs: number;
  /** A request that takes longer is answered with `service.timeout`, ms. */
  requestDeadlineMs: number;
  /** Requests of one client that may be under way or waiting. */
  maxPending: number;
  /** Refused requests of one client that are logged within a minute. */
  loggedRefusals: number;
  /** Time between two tries to reach the database at start, ms. */
  retryMs: number;
  /** Time between two purges of old idempotency keys, ms. */
  purgeKeysMs: number;
  /** Time between two looks for hosts that nobody holds any more, ms. */
  lostHostsMs: number;
  /** Time between two pushes of `stats`, and two looks at the disks, ms. */
  statsMs: number;
  outboxBounds: OutboxBounds;
  /** Numbers of the process itself beside those of the gateway. */
  processMetrics: boolean;
}

export const DEFAULT_TUNING: GatewayTuning = {
  tickMs: 2000,
  drainSpreadMs: 10_000,
  handshakeDeadlineMs: 5000,
  requestDeadlineMs: 30_000,
  maxPending: 256,
  loggedRefusals: 30,
  retryMs: 500,
  purgeKeysMs: 600_000,
  lostHostsMs: 1_000,
  statsMs: 10_000,
  outboxBounds: DEFAULT_OUTBOX_BOUNDS,
  processMetrics: true,
};
