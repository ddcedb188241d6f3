// One reader's place in a project's events: only the next one is let through, so that nobody sees a gap, a repetition or a wrong order (R16).
import type { EventRecord } from '#domain';

export class DeliveryCursor {
  /** @param delivered sequence number of the last event that the reader has */
  constructor(private delivered: number) {}

  get position(): number {
    return this.delivered;
  }

  isBehind(headSeq: number): boolean {
    return this.delivered < headSeq;
  }

  /** Of a batch in any order: the events that follow now without a gap, in order. The cursor moves past them. */
  take(batch: readonly EventRecord[]): EventRecord[] {
    const taken: EventRecord[] = [];
    for (const event of [...batch].sort((a, b) => a.seq - b.seq)) {
      if (event.seq !== this.delivered + 1) continue;
      this.delivered = event.seq;
      taken.push(event);
    }
    return taken;
  }
}
