// Looks for hosts that nobody holds any more. Every gateway does: the database decides who ends what.
import type { Announcer, LostHostStore } from '#domain';
import { type Clock, systemClock } from '#kernel';
import { type Logger, logError } from '#observability';

export interface LostHostWatchOptions {
  store: LostHostStore;
  announcer: Announcer;
  /** How long a host may be without a worker. */
  graceMs: number;
  everyMs: number;
  logger: Logger;
  clock?: Clock;
}

/** Looks that are further apart than so many intervals say nothing of the time between them. */
const MISSED_LOOKS = 10;

/**
 * A host counts as gone when this gateway itself saw it without a worker for the whole time of grace: after an outage of everything, or of
 * Postgres alone, workers get that time to come back, whatever the rows say.
 */
export class LostHostWatch {
  private readonly clock: Clock;
  private readonly since = new Map<string, number>();
  private readonly givenUp = new Set<string>();
  private lastLook = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;

  constructor(private readonly options: LostHostWatchOptions) {
    this.clock = options.clock ?? systemClock;
  }

  start(): void {
    this.timer = setInterval(() => {
      this.underWay ??= this.look().finally(() => {
        this.underWay = undefined;
      });
    }, this.options.everyMs);
    this.timer.unref();
  }

  /** Resolves when the look that is under way is over. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  /** Never rejects. */
  async look(): Promise<void> {
    try {
      const gone = this.goneOf(await this.options.store.unheld());
      if (gone.length > 0) await this.giveUp(gone);
    } catch (error) {
      this.since.clear();
      logError(this.options.logger, error, { operation: 'look for lost hosts' });
    }
  }

  private goneOf(unheld: { hostId: string; epoch: number }[]): { hostId: string; key: string }[] {
    const { graceMs, everyMs } = this.options;
    const now = this.clock.monotonicMs();
    if (now - this.lastLook > everyMs * MISSED_LOOKS) this.since.clear();
    this.lastLook = now;
    const hosts = unheld.map(({ hostId, epoch }) => ({ hostId, key: `${hostId} ${epoch}` }));
    const keys = new Set(hosts.map(({ key }) => key));
    for (const key of this.since.keys()) if (!keys.has(key)) this.since.delete(key);
    for (const { key } of hosts) if (!this.since.has(key)) this.since.set(key, now);
    return hosts.filter(({ key }) => now - (this.since.get(key) ?? now) >= graceMs && !this.givenUp.has(key));
  }

  private async giveUp(gone: { hostId: string; key: string }[]): Promise<void> {
    const { store, announcer, graceMs, logger } = this.options;
    const announcements = await store.giveUp(
      gone.map(({ hostId }) => hostId),
      graceMs,
    );
    for (const { key } of gone) this.givenUp.add(key);
    for (const announcement of announcements) await announcer.announce(announcement);
    logger.warn({ hosts: gone.map(({ hostId }) => hostId), runs: announcements.length }, 'hosts given up as lost');
  }
}
