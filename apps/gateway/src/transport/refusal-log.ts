// A connection that sends nonsense must not flood the log: so many of its refusals a minute are logged, the others counted.

const WINDOW_MS = 60_000;

export interface RefusalLogOptions {
  /** Refusals that are logged within a minute. */
  perMinute: number;
  /** Monotonic. */
  nowMs: () => number;
  /** Told at the end of a minute or of the connection how many were not logged. */
  tell: (suppressed: number) => void;
}

export class RefusalLog {
  private windowStart: number | undefined;
  private logged = 0;
  private suppressed = 0;

  constructor(private readonly options: RefusalLogOptions) {}

  /** Whether the refusal that is at hand may be logged. */
  take(): boolean {
    const now = this.options.nowMs();
    if (this.windowStart === undefined || now - this.windowStart >= WINDOW_MS) {
      this.end();
      this.windowStart = now;
      this.logged = 0;
    }
    const room = this.logged < this.options.perMinute;
    if (room) this.logged += 1;
    else this.suppressed += 1;
    return room;
  }

  /** Tells of those that were left out, once. */
  end(): void {
    if (this.suppressed > 0) this.options.tell(this.suppressed);
    this.suppressed = 0;
  }
}
