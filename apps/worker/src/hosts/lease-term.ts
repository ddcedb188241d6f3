// Until when this worker may act as the holder of its host, by its own monotonic clock. A worker that was frozen for longer than its
// lease learns from the clock, before it asks anybody, that another may have the host by now (R4).
import { AppError, type Clock } from '#kernel';

export class LeaseTerm {
  private validUntil = -Infinity;
  private over = false;
  private waiting: { resolve: () => void; reject: (error: AppError) => void }[] = [];

  constructor(
    private readonly leaseMs: number,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** The lease was granted by a call that began at `askedAt`; Postgres counts from later than that, never from earlier. */
  renewed(askedAt: number): void {
    this.validUntil = Math.max(this.validUntil, askedAt + this.leaseMs);
    if (this.isRunning) this.settle(({ resolve }) => resolve());
  }

  /** The host is not held any more. */
  end(): void {
    this.over = true;
    this.settle(({ reject }) => reject(leaseLost()));
  }

  get isRunning(): boolean {
    return !this.over && this.remainingMs > 0;
  }

  /** What is left of it, ms; not above 0 when it has run out. */
  get remainingMs(): number {
    return this.validUntil - this.clock.monotonicMs();
  }

  /** Resolves while the term is running, or once it runs again. Throws `host.lease_lost` when it does not. */
  async running(): Promise<void> {
    while (!this.isRunning) {
      if (this.over) throw leaseLost();
      await new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    }
  }

  private settle(each: (waiter: (typeof this.waiting)[number]) => void): void {
    const waiting = this.waiting;
    this.waiting = [];
    waiting.forEach(each);
  }
}

export const leaseLost = (): AppError =>
  new AppError('host.lease_lost', 'This worker does not hold the host any more.');
