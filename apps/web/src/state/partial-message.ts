// Messages that are being written: deltas put together until the durable event of the same message takes their place.
import type { Delta } from '#protocol';
import { agentContent } from './agent-message.js';
import { readEvent, type WireEvent } from './wire-event.js';

interface Fragment {
  /** UTF-16 code units of the block before this text. */
  readonly offset: number;
  readonly text: string;
}

export interface PartialBlock {
  readonly runId: string;
  readonly messageId: string;
  readonly blockIndex: number;
  readonly blockType: Delta['block_type'];
  /** Ascending, neither overlapping nor touching; more than one where a delta was dropped on the way. */
  readonly fragments: readonly Fragment[];
}

/** In the order in which the blocks began. */
export type Partials = readonly PartialBlock[];

/** What is known of a block's text; `…` stands where a part did not arrive. */
export function partialText(block: PartialBlock): string {
  const [first] = block.fragments;
  const text = block.fragments.map((fragment) => fragment.text).join('…');
  return first !== undefined && first.offset > 0 ? `…${text}` : text;
}

/**
 * Adds a delta. Repeated and overlapping ones change nothing. A run writes one message at a time: where another begins, what was
 * written of the one before was given up (the model's stream broke and was asked again).
 */
export function addDelta(partials: Partials, delta: Delta): Partials {
  const begins = delta.block_index === 0 && delta.offset === 0;
  const kept = begins
    ? partials.filter(({ runId, messageId }) => runId !== delta.run_id || messageId === delta.message_id)
    : partials;
  const at = kept.findIndex((block) => block.messageId === delta.message_id && block.blockIndex === delta.block_index);
  const block = kept[at];
  const added: Fragment = { offset: delta.offset, text: delta.text };
  if (block === undefined) {
    const { run_id: runId, message_id: messageId, block_index: blockIndex, block_type: blockType } = delta;
    return [...kept, { runId, messageId, blockIndex, blockType, fragments: [added] }];
  }
  const fragments = addFragment(block.fragments, added);
  return fragments === block.fragments && kept.length === partials.length
    ? partials
    : kept.with(at, { ...block, fragments });
}

/** Drops the blocks whose durable event is among these, and all blocks of runs that ended. */
export function settle(partials: Partials, events: readonly WireEvent[]): Partials {
  if (partials.length === 0) return partials;
  const left = partials.filter((block) => !events.some((event) => settles(event, block)));
  return left.length === partials.length ? partials : left;
}

/** Whether the log already holds what the delta leads to. Looks back to the beginning of its run at most. */
export function isSettled(events: readonly WireEvent[], delta: Delta): boolean {
  const block = { runId: delta.run_id, messageId: delta.message_id, blockIndex: delta.block_index };
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    if (event === undefined || event.run_id !== delta.run_id) continue;
    if (settles(event, block)) return true;
    if (event.type === 'run.queued') return false;
  }
  return false;
}

function settles(event: WireEvent, block: Pick<PartialBlock, 'runId' | 'messageId' | 'blockIndex'>): boolean {
  if (event.run_id !== block.runId) return false;
  const read = readEvent(event);
  if (read.type === 'run.finished' || read.type === 'run.cancelled') return true;
  if (read.type !== 'message.assistant' || read.payload.message_id !== block.messageId) return false;
  const count = Math.max(1, agentContent(read.payload.agent).length);
  const index = block.blockIndex - read.payload.block_index;
  return index >= 0 && index < count;
}

function addFragment(fragments: readonly Fragment[], added: Fragment): readonly Fragment[] {
  const end = added.offset + added.text.length;
  if (fragments.some(({ offset, text }) => offset <= added.offset && end <= offset + text.length)) return fragments;
  const touches = ({ offset, text }: Fragment): boolean => offset <= end && added.offset <= offset + text.length;
  const joined = fragments.filter(touches).reduce(join, added);
  return [...fragments.filter((fragment) => !touches(fragment)), joined].sort((a, b) => a.offset - b.offset);
}

function join(a: Fragment, b: Fragment): Fragment {
  const [first, second] = a.offset <= b.offset ? [a, b] : [b, a];
  const shared = first.offset + first.text.length - second.offset;
  return { offset: first.offset, text: first.text + second.text.slice(Math.max(0, shared)) };
}
