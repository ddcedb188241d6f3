// Turns the events and the partial messages of a project into what the feed shows. Pure: the same events give the same feed.
import { assertNever } from '#kernel';
import type { EventPayload } from '#protocol';
import { agentContent, readInit, readUsage, tellsOfError, toolResults } from './agent-message.js';
import { type EventLog, gapsOf } from './event-log.js';
import { type FeedIndex, indexEvents } from './feed-index.js';
import type { FeedItem } from './feed-item.js';
import { HeldPrompts } from './held-prompts.js';
import { type PartialBlock, type Partials, partialText } from './partial-message.js';
import { RetryRows } from './retry-rows.js';
import { readEvent, type ReadEvent, type WireEvent } from './wire-event.js';

/** The feed of the durable events alone. O(number of events): keep it for as long as the log is the same. */
export function durableFeed(log: EventLog): FeedItem[] {
  const index = indexEvents(log.events);
  const gaps = gapsOf(log);
  const items: FeedItem[] = [];
  const retries = new RetryRows();
  const prompts = new HeldPrompts(log.events);
  let shownInit = '';
  let previous: WireEvent | undefined;
  for (const event of log.events) {
    while (gaps[0] !== undefined && gaps[0].to < event.seq) {
      const gap = gaps.shift();
      if (gap === undefined) continue;
      items.push(...retries.end(), ...prompts.beforeGap(gap.from), { kind: 'gap', key: `gap:${gap.to}`, ...gap });
    }
    if (event.type === 'message.user') {
      // The conversation that a prompt begins is told with it: both events are of one transaction.
      const begun = previous?.type === 'session.created' && previous.seq === event.seq - 1 ? items.splice(-1) : [];
      items.push(...prompts.hold(event, [...begun, ...itemsOf(event, index)]));
      previous = event;
      continue;
    }
    previous = event;
    items.push(...prompts.before(event));
    if (retries.take(event)) continue;
    if (event.run_id !== undefined) items.push(...retries.end(event.run_id));
    for (const item of itemsOf(event, index)) {
      if (item.kind === 'line' && item.line.of === 'init') {
        const init = `${item.line.model} ${item.line.mode}`;
        if (init === shownInit) continue; // the agent says it again before every turn
        shownInit = init;
      }
      items.push(item);
    }
  }
  return [...items, ...retries.live(), ...prompts.waiting()];
}

/** What is being written now, to be shown after the durable feed. */
export function partialFeed(partials: Partials): FeedItem[] {
  return partials.map(partialItem);
}

function partialItem(block: PartialBlock): FeedItem {
  const key = blockKey(block.messageId, block.blockIndex);
  const text = partialText(block);
  switch (block.blockType) {
    case 'text':
      return { kind: 'text', key, text, streaming: true, nested: false };
    case 'thinking':
      return { kind: 'thinking', key, text, streaming: true };
    case 'tool_use':
      return {
        kind: 'tool',
        key,
        name: '',
        input: undefined,
        draft: text,
        result: undefined,
        asking: false,
        over: false,
        nested: false,
      };
    default:
      return assertNever(block.blockType);
  }
}

function itemsOf(event: WireEvent, index: FeedIndex): FeedItem[] {
  const common = { key: event.event_id, at: event.created_at };
  const read = readEvent(event);
  switch (read.type) {
    case 'message.user':
      return [userItem(event, read.payload, index)];
    case 'message.assistant':
      return assistantItems(event, read.payload, index);
    case 'message.tool_result':
      return orphanResults(event, read.payload, index);
    case 'message.system':
      return [{ kind: 'line', ...common, line: systemLine(read.payload) }];
    case 'message.result':
      return [resultItem(event, read.payload, index)];
    case 'permission.requested': {
      const closing = index.closings.get(read.payload.request_id);
      return [{ kind: 'permission', ...common, request: read.payload, closing }];
    }
    case 'command.started':
      return event.run_id === undefined ? [] : [{ kind: 'command', ...common, runId: event.run_id }];
    case 'run.finished':
    case 'run.cancelled':
      return endItems(event, read);
    default:
      return lineItems(event, read);
  }
}

function userItem(event: WireEvent, payload: EventPayload<'message.user'>, index: FeedIndex): FeedItem {
  const { user_id: userId, user_name: userName } = payload;
  const edit = event.run_id === undefined ? undefined : index.edits.get(event.run_id);
  const text = edit?.text ?? payload.text;
  const editedBy = edit === undefined || edit.userId === userId ? undefined : edit.userName;
  const item = { kind: 'user' as const, key: event.event_id, at: event.created_at, text, userId, userName };
  return editedBy === undefined ? item : { ...item, editedBy };
}

function lineItems(event: WireEvent, read: ReadEvent): FeedItem[] {
  const common = { key: event.event_id, at: event.created_at };
  switch (read.type) {
    case 'session.created':
      return [{ kind: 'divider', ...common, divider: 'session_created', title: read.payload.title ?? '' }];
    case 'session.reset':
      return [{ kind: 'divider', ...common, divider: 'session_reset', title: '' }];
    case 'project.updated':
      return read.payload.name === undefined
        ? []
        : [{ kind: 'line', ...common, line: { of: 'renamed', name: read.payload.name } }];
    case 'sandbox.started':
      return [{ kind: 'line', ...common, line: { of: 'sandbox_started', readyMs: read.payload.ready_ms } }];
    case 'sandbox.lost':
      return [{ kind: 'line', ...common, line: { of: 'sandbox_lost', reason: read.payload.reason } }];
    case 'unreadable':
      return [{ kind: 'line', ...common, line: { of: 'unreadable', type: event.type } }];
    default:
      return []; // facts that other parts of the page show, and types of a newer server
  }
}

function assistantItems(event: WireEvent, payload: EventPayload<'message.assistant'>, index: FeedIndex): FeedItem[] {
  const nested = payload.parent_tool_use_id !== undefined;
  const over = event.run_id !== undefined && index.endedRuns.has(event.run_id);
  const failures = event.run_id === undefined ? undefined : index.failures.get(event.run_id);
  // Its words are those of the run's result or end, which say them with a code.
  if (tellsOfError(payload.agent) && failures !== undefined) return [];
  return agentContent(payload.agent).flatMap((block, position): FeedItem[] => {
    const common = { key: blockKey(payload.message_id, payload.block_index + position), at: event.created_at };
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' || failures?.has(block.text.trim()) === true
          ? []
          : [{ kind: 'text', ...common, text: block.text, streaming: false, nested }];
      case 'thinking':
        return block.text.trim() === '' ? [] : [{ kind: 'thinking', ...common, text: block.text, streaming: false }];
      case 'tool_use': {
        const result = index.results.get(block.id);
        const asking = result === undefined && index.asking.has(block.id);
        const { name, input } = block;
        return [{ kind: 'tool', ...common, name, input, draft: '', result, asking, over, nested }];
      }
      case 'other':
        return [];
      default:
        return assertNever(block);
    }
  });
}

/** Results whose tool call is not loaded (yet) stand alone; the others are part of their card. */
function orphanResults(event: WireEvent, payload: EventPayload<'message.tool_result'>, index: FeedIndex): FeedItem[] {
  return toolResults(payload.agent)
    .filter(({ toolUseId }) => !index.calls.has(toolUseId))
    .map((result, position) => ({
      kind: 'tool',
      key: `${event.event_id}:${position}`,
      at: event.created_at,
      name: '',
      input: undefined,
      draft: '',
      result,
      asking: false,
      over: true,
      nested: false,
    }));
}

function systemLine(payload: EventPayload<'message.system'>): Extract<FeedItem, { kind: 'line' }>['line'] {
  if (payload.subtype === 'init') return { of: 'init', ...readInit(payload.agent) };
  return { of: 'system', subtype: payload.subtype, text: payload.text ?? '' };
}

function resultItem(event: WireEvent, payload: EventPayload<'message.result'>, index: FeedIndex): FeedItem {
  const told = event.run_id !== undefined && index.failedRuns.has(event.run_id);
  const failure = payload.is_error && !told ? { subtype: payload.subtype, text: payload.text ?? '' } : undefined;
  return {
    kind: 'result',
    key: event.event_id,
    at: event.created_at,
    costUsd: payload.cost_usd,
    durationMs: payload.duration_ms,
    turns: payload.num_turns,
    tokens: readUsage(payload.usage),
    ok: !payload.is_error && !told,
    failure,
  };
}

/** A success needs no word of its own: the answer or the command's card shows it. */
function endItems(event: WireEvent, read: Extract<ReadEvent, { type: 'run.finished' | 'run.cancelled' }>): FeedItem[] {
  const { status, kind: runKind, error } = read.payload;
  const shownByItsCard = read.type === 'run.finished' && runKind === 'command' && error === undefined;
  if (status === 'succeeded' || shownByItsCard) return [];
  return [{ kind: 'end', key: event.event_id, at: event.created_at, runKind, status, error }];
}

function blockKey(messageId: string, blockIndex: number): string {
  return `${messageId}:${blockIndex}`;
}
