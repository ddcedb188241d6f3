// How long a run has really been at work: its timeout counts this, not the time that people took (R14).
import type { Clock } from '#kernel';
import type { ActiveTime, Hold } from './run-driver.port.js';

export class RunActiveTime implements ActiveTime {
  private startedAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private limit: { ms: number; reached: () => void } | undefined;
  private begun = false;
  private readonly holds = new Set<Hold>();

  /** `elapsed`: ms of earlier attachments. It stands still until `resume` or `begin`. */
  constructor(
    private readonly clock: Clock,
    private elapsed: number,
  ) {}

  elapsedMs(): number {
    return Math.round(this.elapsed + (this.startedAt === undefined ? 0 : this.clock.monotonicMs() - this.startedAt));
  }

  get suspended(): boolean {
    return this.startedAt === undefined;
  }

  /** Whether work was ever begun here. */
  get hasBegun(): boolean {
    return this.begun;
  }

  heldBy(hold: Hold): boolean {
    return this.holds.has(hold);
  }

  /** Counts, unless something holds the run still; whatever held it before is forgotten. */
  begin(holds: readonly Hold[]): void {
    this.stand();
    this.begun = true;
    this.holds.clear();
    for (const hold of holds) this.holds.add(hold);
    this.go();
  }

  suspend(hold: Hold = 'question'): void {
    this.holds.add(hold);
    this.stand();
  }

  resume(hold: Hold = 'question'): void {
    this.holds.delete(hold);
    this.go();
  }

  /** Calls `reached` once, when `ms` of active time are over. */
  onLimit(ms: number, reached: () => void): void {
    this.limit = { ms, reached };
    if (this.startedAt !== undefined) this.arm();
  }

  /** No limit is reached after this. */
  close(): void {
    this.stand();
    this.limit = undefined;
  }

  private stand(): void {
    if (this.startedAt === undefined) return;
    this.elapsed += this.clock.monotonicMs() - this.startedAt;
    this.startedAt = undefined;
    clearTimeout(this.timer);
  }

  private go(): void {
    if (this.startedAt !== undefined || this.holds.size > 0) return;
    this.startedAt = this.clock.monotonicMs();
    this.arm();
  }

  private arm(): void {
    clearTimeout(this.timer);
    const { limit } = this;
    if (limit === undefined) return;
    const rest = Math.max(0, limit.ms - this.elapsedMs());
    this.timer = setTimeout(
      () => {
        // A timer may fire a moment early, and setTimeout cannot count beyond 2^31 ms.
        if (this.elapsedMs() < limit.ms) return this.arm();
        this.limit = undefined;
        limit.reached();
      },
      Math.min(rest, MAX_TIMER_MS),
    );
    this.timer.unref();
  }
}

const MAX_TIMER_MS = 2 ** 31 - 1;
