// Tells the world what a request committed: this gateway's own clients at once, everybody else through the announcer.
import type { Announcement, Announcer, Committed } from '#domain';
import type { FeedHub } from './feed-hub.js';

export class CommitAnnouncer {
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly announcer: Announcer,
    private readonly hub: Pick<FeedHub, 'offer'>,
    private readonly report: (error: unknown) => void,
  ) {}

  /**
   * Gives the result back without waiting: what is committed is acknowledged even while Redis is away, and what is lost on the way is
   * found again by reconciling and by heads (R3, R16).
   */
  announced<T>({ result, announcement }: Committed<T>): T {
    this.hub.offer(announcement);
    if (isWorthTelling(announcement)) {
      const told = this.announcer
        .announce(announcement)
        .catch(this.report)
        .finally(() => this.underWay.delete(told));
      this.underWay.add(told);
    }
    return result;
  }

  /** Resolves when everything was handed over. */
  async settle(): Promise<void> {
    await Promise.all(this.underWay);
  }
}

const isWorthTelling = ({ events, dispatches, queue, wakeHostIds, headSeq }: Announcement): boolean =>
  events.length > 0 || dispatches.length > 0 || queue !== undefined || wakeHostIds.length > 0 || headSeq !== undefined;
