// The durable events of one project that this page holds: in order, none twice, and its gaps known.
import type { WireEvent } from './wire-event.js';

/** Sequence numbers, both ends included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

export interface EventLog {
  /** Ascending by seq, no seq twice. */
  readonly events: readonly WireEvent[];
  /** What is covered: ascending, neither overlapping nor touching. One range unless something is missing. */
  readonly ranges: readonly SeqRange[];
  /** Whether the first event held is the project's first. */
  readonly reachesStart: boolean;
}

export const EMPTY_LOG: EventLog = { events: [], ranges: [], reachesStart: false };
const FIRST_SEQ = 1;

/**
 * Adds events that came as one page, or alone. `covered` is the range that the page stands for, also where the server holds no
 * event any more; without it just the events' own numbers are covered. Any order, repetition or overlap gives the same log.
 */
export function addEvents(log: EventLog, events: readonly WireEvent[], covered?: SeqRange): EventLog {
  const additions = covered === undefined ? events.map(({ seq }) => ({ from: seq, to: seq })) : [covered];
  const fresh = events.filter(({ seq }) => !holds(log.events, seq)).sort((a, b) => a.seq - b.seq);
  const ranges = additions.reduce(addRange, log.ranges);
  if (fresh.length === 0 && ranges === log.ranges) return log;
  const reachesStart = log.reachesStart || (ranges[0]?.from ?? Infinity) <= FIRST_SEQ;
  return { events: merge(log.events, fresh), ranges, reachesStart };
}

/** The log once it is known that nothing older exists. */
export function markStart(log: EventLog): EventLog {
  return log.reachesStart ? log : { ...log, reachesStart: true };
}

/** The newest sequence number held; what a reconnecting client sends as since_seq. */
export function newestSeq(log: EventLog): number | undefined {
  return log.ranges.at(-1)?.to;
}

export function oldestSeq(log: EventLog): number | undefined {
  return log.ranges[0]?.from;
}

/** What lies between the ranges held, oldest first. */
export function gapsOf(log: EventLog): SeqRange[] {
  return log.ranges.slice(1).map((range, index) => ({ from: (log.ranges[index]?.to ?? 0) + 1, to: range.from - 1 }));
}

function holds(events: readonly WireEvent[], seq: number): boolean {
  return events[lowerBound(events, seq)]?.seq === seq;
}

/** Index of the first event with a number of at least `seq`. */
export function lowerBound(events: readonly WireEvent[], seq: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? Infinity) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function merge(held: readonly WireEvent[], fresh: readonly WireEvent[]): readonly WireEvent[] {
  const distinct = fresh.filter((event, index) => event.seq !== fresh[index - 1]?.seq);
  if (distinct.length === 0) return held;
  const at = lowerBound(held, distinct[0]?.seq ?? 0);
  const between = held[at] === undefined || held[at].seq > (distinct.at(-1)?.seq ?? 0);
  if (between) return [...held.slice(0, at), ...distinct, ...held.slice(at)];
  return [...held, ...distinct].sort((a, b) => a.seq - b.seq);
}

function addRange(ranges: readonly SeqRange[], added: SeqRange): readonly SeqRange[] {
  if (added.to < added.from) return ranges;
  if (ranges.some(({ from, to }) => from <= added.from && added.to <= to)) return ranges;
  const touches = ({ from, to }: SeqRange): boolean => from <= added.to + 1 && added.from <= to + 1;
  const joined = ranges
    .filter(touches)
    .reduce((all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }), added);
  return [...ranges.filter((range) => !touches(range)), joined].sort((a, b) => a.from - b.from);
}
