// Of a row of retries of the model's service, the newest: being waited for while nothing came after it, told in the past then.
import type { FeedItem, LineItem } from './feed-item.js';
import { readRetry } from './agent-message.js';
import { readEvent, type WireEvent } from './wire-event.js';

export type RetryLine = Extract<LineItem['line'], { of: 'retry' }>;
type RetryItem = LineItem & { readonly line: RetryLine };

/** Fed with all events in order. */
export class RetryRows {
  /** By run: the newest retry, if nothing else came of the run since. */
  readonly #open = new Map<string, RetryItem>();

  /** Whether the event is a retry; it then takes the place of the one before. */
  take(event: WireEvent): boolean {
    const read = readEvent(event);
    if (read.type !== 'message.system' || read.payload.subtype !== 'api_retry') return false;
    const retry = readRetry(read.payload.agent);
    const runId = event.run_id ?? '';
    const nextTryAt = Date.parse(event.created_at) + retry.delayMs;
    this.#open.set(runId, {
      kind: 'line',
      key: event.event_id,
      at: event.created_at,
      line: { of: 'retry', retry, runId, nextTryAt, live: false },
    });
    return true;
  }

  /** Ends the row of a run, or all of them; what is returned is history. */
  end(runId?: string): RetryItem[] {
    const ended = [...this.#open].filter(([of]) => runId === undefined || of === runId);
    for (const [of] of ended) this.#open.delete(of);
    return ended.map(([, item]) => item);
  }

  /** The rows that go on. The key stays from one retry to the next, so that the element on the page does too. */
  live(): RetryItem[] {
    return [...this.#open].map(([runId, item]) => ({
      ...item,
      key: `retry:${runId}`,
      line: { ...item.line, live: true },
    }));
  }
}

/** A run that writes is not waiting any more. The same array when there is nothing to leave out. */
export function withoutAnswered(items: readonly FeedItem[], writing: ReadonlySet<string>): readonly FeedItem[] {
  const answered = (item: FeedItem): boolean =>
    item.kind === 'line' && item.line.of === 'retry' && item.line.live && writing.has(item.line.runId);
  return items.some(answered) ? items.filter((item) => !answered(item)) : items;
}

/** Whole seconds until the next attempt; never more than the announced wait, whatever the two clocks say. */
export function secondsLeft({ nextTryAt, retry }: RetryLine, nowMs: number): number {
  return Math.ceil(Math.min(Math.max(0, nextTryAt - nowMs), retry.delayMs) / 1000);
}
