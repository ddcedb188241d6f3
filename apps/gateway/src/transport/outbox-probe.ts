// A socket whose client reads only when told: what tests put behind an Outbox. The counting of bytes is engine.io's contract, played back.
import type { EngineConnection, OutboxSocket } from './outbox.js';

export class OutboxProbe implements OutboxSocket {
  readonly sent: { event: string; payload: unknown }[] = [];
  closed = false;
  private readonly listeners = new Map<string, ((argument: never) => void)[]>();
  /** As in engine.io: a flush takes everything queued, and the next one waits for the drain of the one before. */
  private flushing = false;
  private queued = 0;
  private readonly reading: boolean;

  constructor({ reading = true }: { reading?: boolean } = {}) {
    this.reading = reading;
  }

  readonly conn: EngineConnection = {
    on: (event: string, listener: (argument: never) => void) => this.listen(event, listener),
    transport: { on: (event: string, listener: () => void) => this.listen(event, listener) },
    close: () => {
      this.closed = true;
    },
  };

  emit(event: string, payload: unknown): void {
    this.sent.push({ event, payload });
    this.fire('packetCreate', { data: JSON.stringify(payload) });
    this.queued += 1;
    this.flush();
    if (this.reading) this.read();
  }

  /** The client takes everything. */
  read(): void {
    while (this.flushing) {
      this.flushing = false;
      this.fire('drain', undefined);
      this.flush();
    }
  }

  payloads(event: string): unknown[] {
    return this.sent.flatMap((push) => (push.event === event ? [push.payload] : []));
  }

  private flush(): void {
    if (this.flushing || this.queued === 0) return;
    this.flushing = true;
    this.queued = 0;
    this.fire('flush', undefined);
  }

  private listen(event: string, listener: (argument: never) => void): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  private fire(event: string, argument: unknown): void {
    for (const listener of this.listeners.get(event) ?? []) listener(argument as never);
  }
}
