// Waiting for the end of a run: woken by the project's feed, and by a timer in case the word was lost (R16).
import { setTimeout as delay } from 'node:timers/promises';
import { isFinal, type LiveFrame, type RunRecord, type RunStore } from '#domain';
import type { FeedHub } from '../live/feed-hub.js';
import type { FeedMember } from '../live/membership.js';

export interface RunEndOptions {
  runs: Pick<RunStore, 'find'>;
  hub: Pick<FeedHub, 'acquire'>;
  /** Time between two looks without a word, ms. */
  recheckMs: number;
}

export class RunEnd {
  constructor(private readonly options: RunEndOptions) {}

  /** Resolves when the run is over or gone, after `withinMs`, or when `signal` is aborted. Rejects with what the store throws. */
  async reached(run: Pick<RunRecord, 'runId' | 'projectId'>, withinMs: number, signal: AbortSignal): Promise<void> {
    const lease = this.options.hub.acquire(run.projectId);
    const ear = new Ear(run.runId);
    const stop = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    lease.feed.add(ear);
    try {
      while (!stop.aborted) {
        const word = ear.next();
        const known = await this.options.runs.find(run.runId);
        if (known === undefined || isFinal(known.status)) return;
        await firstOf(word, this.options.recheckMs, stop);
      }
    } finally {
      lease.feed.remove(ear);
      lease.release();
    }
  }
}

/** Resolves with the word, after the time, or when stopped. */
async function firstOf(word: Promise<void>, withinMs: number, stop: AbortSignal): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([stop, done.signal]);
  await Promise.race([word, delay(withinMs, undefined, { signal }).catch(() => undefined)]);
  done.abort();
}

/** Hears what is announced in the project; it is never a member that is to be given events. */
class Ear implements FeedMember {
  readonly position = undefined;
  readonly ready = false;
  private wake: () => void = () => undefined;

  constructor(private readonly runId: string) {}

  /** Resolves at the next word that may be the run's end. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  frame(frame: LiveFrame): void {
    if (frame.kind !== 'announcement') return;
    const { events, headSeq } = frame.announcement;
    // Large events are left out of what is announced.
    if (headSeq !== undefined || events.some(({ runId, type }) => runId === this.runId && ENDS.has(type))) this.wake();
  }

  events(): void {
    // Without a position it is given none.
  }

  queue(): void {
    // Not of interest.
  }

  mustResync(): void {
    this.wake();
  }
}

const ENDS: ReadonlySet<string> = new Set(['run.finished', 'run.cancelled']);
