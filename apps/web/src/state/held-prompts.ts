// Prompts that wait their turn: each is shown where its run begins, or below everything else while that has not come.
import type { FeedItem } from './feed-item.js';
import type { WireEvent } from './wire-event.js';

export class HeldPrompts {
  readonly #held = new Map<string, readonly FeedItem[]>();
  /** By run: the number of its last event. */
  readonly #lastSeq = new Map<string, number>();

  constructor(events: readonly WireEvent[]) {
    for (const { run_id: runId, seq } of events) if (runId !== undefined) this.#lastSeq.set(runId, seq);
  }

  /** Keeps the items of a prompt back; gives back those that stand where they are, because they belong to no run. */
  hold({ run_id: runId }: WireEvent, items: readonly FeedItem[]): readonly FeedItem[] {
    if (runId === undefined) return items;
    this.#held.set(runId, items);
    return [];
  }

  /** What was kept back and has its place before this event: anything of a run but its queueing, and changes of it, means that it began. */
  before({ run_id: runId, type }: WireEvent): readonly FeedItem[] {
    const waits = type === 'run.queued' || type === 'run.updated';
    return runId === undefined || waits ? [] : this.#release(runId);
  }

  /** What was kept back and has its place before events that are not loaded: of these runs nothing comes after `seq`. */
  beforeGap(seq: number): readonly FeedItem[] {
    const silent = [...this.#held.keys()].filter((runId) => (this.#lastSeq.get(runId) ?? 0) < seq);
    return silent.flatMap((runId) => this.#release(runId));
  }

  /** Those whose run has not begun, in the order in which they were sent. */
  waiting(): FeedItem[] {
    return [...this.#held].flatMap(([waitingFor, items]) => items.map((item) => ({ ...item, waitingFor })));
  }

  #release(runId: string): readonly FeedItem[] {
    const items = this.#held.get(runId) ?? [];
    this.#held.delete(runId);
    return items;
  }
}

/** Parts what stands above the words that are being written from what stands below them. `writing`: the runs that write. */
export function splitWaiting(
  items: readonly FeedItem[],
  writing: ReadonlySet<string>,
): { told: readonly FeedItem[]; waiting: readonly FeedItem[] } {
  const waits = ({ waitingFor }: FeedItem): boolean => waitingFor !== undefined && !writing.has(waitingFor);
  const waiting = items.filter(waits);
  return waiting.length === 0 ? { told: items, waiting } : { told: items.filter((item) => !waits(item)), waiting };
}
