// How often and how long a run is attached anew while infrastructure is away.
import type { Clock, ErrorCode } from '#kernel';

export interface PatienceBounds {
  /** Wait before the first new try; doubled with each, ms. */
  firstMs: number;
  mostMs: number;
  /** For how long a sandbox may be away, ms. */
  sandboxMs: number;
  /** For how long Docker or Postgres may be away: nothing is wrong with the run then, so it waits, ms. */
  serviceMs: number;
}

export const PATIENCE: PatienceBounds = { firstMs: 100, mostMs: 3_000, sandboxMs: 60_000, serviceMs: 15 * 60_000 };

/** A failure this long after the one before begins a new count, ms. */
const CALM_MS = 60_000;
const SERVICES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['host.engine_unreachable', 'service.unavailable']);

export class Patience {
  private tries = 0;
  private since: number | undefined;
  private last: number | undefined;

  constructor(
    private readonly bounds: PatienceBounds,
    private readonly clock: Clock,
  ) {}

  /** How long to wait before the next try, ms; undefined when it is time to give up. */
  next(code: ErrorCode): number | undefined {
    const now = this.clock.monotonicMs();
    if (this.last !== undefined && now - this.last > CALM_MS) {
      this.tries = 0;
      this.since = undefined;
    }
    this.since ??= now;
    this.last = now;
    const { firstMs, mostMs, sandboxMs, serviceMs } = this.bounds;
    if (now - this.since >= (SERVICES.has(code) ? serviceMs : sandboxMs)) return undefined;
    const waitMs = Math.min(mostMs, firstMs * 2 ** this.tries);
    this.tries += 1;
    return waitMs;
  }
}
