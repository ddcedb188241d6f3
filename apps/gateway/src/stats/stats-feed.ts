// Looks at the installation every few seconds, once for all sockets: pushes `stats` to those that asked, and warns of disks that fill up.
import type { Usage, UsageStore } from '#domain';
import { type Logger, logError } from '#observability';
import type { ServerPush } from '#protocol';
import type { Attachment, ClientConnection } from '../transport/client-connection.js';
import { describeLowDisks, type LowDisk, lowDisks } from './low-disks.js';
import { toStats } from './stats.wire.js';

export interface StatsFeedOptions {
  usage: Pick<UsageStore, 'read'>;
  everyMs: number;
  warnFreePercent: number;
  logger: Logger;
}

/** What the feed needs of the sockets, which come later than it. */
export interface StatsSockets {
  readonly size: number;
  tell(notice: ServerPush<'server_notice'>): void;
}

const KEY = 'stats';

export class StatsFeed {
  private readonly readers = new Set<ClientConnection>();
  private sockets: StatsSockets | undefined;
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  /** Disks that are warned of, until they have room again. */
  private warned = new Set<string>();
  private low: LowDisk[] = [];

  constructor(private readonly options: StatsFeedOptions) {}

  start(sockets: StatsSockets): void {
    this.sockets = sockets;
    this.timer = setInterval(() => {
      this.underWay ??= this.tick().finally(() => {
        this.underWay = undefined;
      });
    }, this.options.everyMs);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  /** The disks that had little room at the last look. */
  get lowDisks(): readonly LowDisk[] {
    return this.low;
  }

  async subscribe(connection: ClientConnection): Promise<ServerPush<'stats'>> {
    const stats = this.describe(await this.options.usage.read());
    const attachment: Attachment = { close: () => void this.readers.delete(connection) };
    connection.attach(KEY, attachment);
    this.readers.add(connection);
    return stats;
  }

  unsubscribe(connection: ClientConnection): void {
    connection.detach(KEY);
  }

  /** Never rejects. */
  async tick(): Promise<void> {
    try {
      const usage = await this.options.usage.read();
      this.warn(usage);
      const stats = this.describe(usage);
      // A client that does not read misses some: the next one says it all.
      for (const { outbox } of this.readers) if (!outbox.congested) outbox.push('stats', stats);
    } catch (error) {
      logError(this.options.logger, error, { operation: 'stats' });
    }
  }

  private describe(usage: Usage): ServerPush<'stats'> {
    return toStats(usage, this.sockets?.size ?? 0, new Date());
  }

  private warn(usage: Usage): void {
    this.low = lowDisks(usage, this.options.warnFreePercent);
    const known = this.warned;
    this.warned = new Set(this.low.map(({ hostId, disk }) => `${hostId} ${disk}`));
    const fresh = this.low.filter(({ hostId, disk }) => !known.has(`${hostId} ${disk}`));
    if (fresh.length === 0) return;
    const message = describeLowDisks(fresh);
    this.options.logger.warn({ disks: fresh }, 'little disk space');
    this.sockets?.tell({ code: 'disk.low', message });
  }
}
