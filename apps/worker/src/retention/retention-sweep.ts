// Deletes what has served its time, a batch after the other, while this worker holds the host.
import type { RetentionLimits, RetentionStore } from '#domain';
import { logError, type Logger } from '#observability';
import { every, type Repeated } from '../timing/every.js';

export interface RetentionSweepParts {
  hostId: string;
  retention: RetentionStore;
  limits: RetentionLimits;
  intervalMs: number;
  logger: Logger;
}

/** Applied intents and ended processes are of use while something may still look back at them. */
const RECORD_DAYS = 7;
/** Runs that expire in one step. */
const RUN_BATCH = 200;

export class RetentionSweep {
  private loop: Repeated | undefined;
  private stopped = false;

  constructor(private readonly parts: RetentionSweepParts) {}

  start(): void {
    const { intervalMs, logger } = this.parts;
    this.loop = every(
      intervalMs,
      () => this.run(),
      (error) => logError(logger, error, { doing: 'delete what is due' }),
    );
  }

  /** Resolves when the batch under way is over. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop?.stop();
  }

  async run(): Promise<void> {
    const { hostId, retention, limits, logger } = this.parts;
    let expired = 0;
    await this.repeat(async () => {
      const count = await retention.expireOld(hostId, limits, RUN_BATCH);
      expired += count;
      return count >= RUN_BATCH;
    });
    expired += await retention.expireAboveCap(hostId, limits);
    await this.repeat(() => retention.deleteExpired(hostId));
    await this.repeat(() => retention.purgeRecords(hostId, RECORD_DAYS));
    if (expired > 0) logger.info({ runs: expired }, 'output expired');
  }

  private async repeat(batch: () => Promise<boolean>): Promise<void> {
    while (!this.stopped && (await batch()));
  }
}
