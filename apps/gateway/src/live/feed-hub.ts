// The feeds of this gateway: one subscription per project however many clients watch it, and the timer that finds what got lost (R16).
import type { Announcement, EventStore, LiveBus } from '#domain';
import { type FeedStores, ProjectFeed } from './project-feed.js';

export interface FeedHubOptions extends FeedStores {
  events: Pick<EventStore, 'after' | 'heads'>;
  bus: Pick<LiveBus, 'subscribe' | 'onReconnect'>;
  /** Time between two comparisons with the heads in Postgres, ms. */
  tickMs: number;
  report: (error: unknown, context: Record<string, unknown>) => void;
}

export interface FeedLease {
  readonly feed: ProjectFeed;
  /** Resolves when frames of the bus arrive; never while the bus is away. The feed works without, by its timer. */
  readonly standing: Promise<void>;
  release(): void;
}

interface Entry {
  feed: ProjectFeed;
  leases: number;
  standing: Promise<void>;
  stands: () => void;
  subscription: { unsubscribe(): Promise<void> } | undefined;
  subscribing: boolean;
}

export class FeedHub {
  private readonly entries = new Map<string, Entry>();
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;

  constructor(private readonly options: FeedHubOptions) {
    options.bus.onReconnect(() => void this.check());
  }

  start(): void {
    this.timer = setInterval(() => void this.check(), this.options.tickMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.checking;
  }

  acquire(projectId: string): FeedLease {
    const entry = this.entries.get(projectId) ?? this.open(projectId);
    entry.leases += 1;
    let released = false;
    return {
      feed: entry.feed,
      standing: entry.standing,
      release: () => {
        if (released) return;
        released = true;
        entry.leases -= 1;
        if (entry.leases === 0) this.close(projectId, entry);
      },
    };
  }

  /** What this gateway itself committed: its own clients need not wait for the bus. */
  offer(announcement: Announcement): void {
    this.entries.get(announcement.projectId)?.feed.frame({ kind: 'announcement', announcement });
  }

  /** Compares the heads of all watched projects with Postgres, in one query. Never rejects. */
  check(): Promise<void> {
    this.checking ??= this.compareHeads().finally(() => {
      this.checking = undefined;
    });
    return this.checking;
  }

  private async compareHeads(): Promise<void> {
    const watched = [...this.entries];
    for (const [projectId, entry] of watched) if (entry.subscription === undefined) this.subscribe(projectId, entry);
    if (watched.length === 0) return;
    try {
      const heads = await this.options.events.heads(watched.map(([projectId]) => projectId));
      await Promise.all(
        watched.map(async ([projectId, { feed }]) => {
          const head = heads.get(projectId);
          if (head === undefined) feed.gone();
          else await feed.refresh(head);
        }),
      );
    } catch (error) {
      this.options.report(error, { operation: 'live.heads' });
    }
  }

  private open(projectId: string): Entry {
    let stands!: () => void;
    const standing = new Promise<void>((resolve) => {
      stands = resolve;
    });
    const report = (error: unknown) =>
      this.options.report(error, { operation: 'live.backfill', project_id: projectId });
    const feed = new ProjectFeed(projectId, this.options, report);
    const entry: Entry = { feed, leases: 0, standing, stands, subscription: undefined, subscribing: false };
    this.entries.set(projectId, entry);
    this.subscribe(projectId, entry);
    return entry;
  }

  /** Does not wait. What fails is tried again by the timer. */
  private subscribe(projectId: string, entry: Entry): void {
    if (entry.subscribing) return;
    entry.subscribing = true;
    this.options.bus
      .subscribe(projectId, (frame) => entry.feed.frame(frame))
      .then(async (subscription) => {
        if (this.entries.get(projectId) !== entry) return subscription.unsubscribe();
        entry.subscription = subscription;
        entry.stands();
      })
      .catch((error: unknown) => this.options.report(error, { operation: 'live.subscribe', project_id: projectId }))
      .finally(() => {
        entry.subscribing = false;
      });
  }

  private close(projectId: string, entry: Entry): void {
    this.entries.delete(projectId);
    entry.subscription
      ?.unsubscribe()
      .catch((error: unknown) => this.options.report(error, { operation: 'live.unsubscribe', project_id: projectId }));
  }
}
