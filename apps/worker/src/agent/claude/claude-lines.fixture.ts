// Builds lines as Claude Code 2.1.330 writes them (taken down from it), for the tests of what reads them.
import type { JsonObject } from './claude-lines.js';

export const SESSION_ID = '2b1b5053-c2bf-4da1-b615-717eaed9b7fa';

export interface BlockSpec {
  type: 'text' | 'thinking' | 'tool_use';
  /** The pieces in which it is streamed. */
  pieces: string[];
}

const json = (value: JsonObject): string => JSON.stringify(value);

const streamEvent = (messageId: string, event: JsonObject, parent: string | null = null): string =>
  json({
    type: 'stream_event',
    event,
    session_id: SESSION_ID,
    parent_tool_use_id: parent,
    uuid: crypto.randomUUID(),
    api_message_id: messageId,
  });

const FIELD = { text: 'text', thinking: 'thinking', tool_use: 'partial_json' } as const;
const DELTA = { text: 'text_delta', thinking: 'thinking_delta', tool_use: 'input_json_delta' } as const;

function contentOf({ type, pieces }: BlockSpec): JsonObject {
  const whole = pieces.join('');
  if (type === 'tool_use') return { type, id: `toolu_${whole.length}`, name: 'Bash', input: { command: whole } };
  return { type, [type]: whole };
}

export const assistantLine = (messageId: string, content: JsonObject[], more: JsonObject = {}): string =>
  json({
    type: 'assistant',
    message: {
      id: messageId,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-5',
      content,
      stop_reason: null,
    },
    parent_tool_use_id: null,
    session_id: SESSION_ID,
    uuid: crypto.randomUUID(),
    ...more,
  });

/** The lines of one streamed message; each block's own line comes before the end of the block. */
export function messageLines(messageId: string, blocks: BlockSpec[]): string[] {
  const inner = blocks.flatMap((block, index) => [
    streamEvent(messageId, {
      type: 'content_block_start',
      index,
      content_block: { ...contentOf({ ...block, pieces: [] }) },
    }),
    ...block.pieces.map((piece) =>
      streamEvent(messageId, {
        type: 'content_block_delta',
        index,
        delta: { type: DELTA[block.type], [FIELD[block.type]]: piece },
      }),
    ),
    assistantLine(messageId, [contentOf(block)]),
    streamEvent(messageId, { type: 'content_block_stop', index }),
  ]);
  return [
    streamEvent(messageId, { type: 'message_start', message: { id: messageId, role: 'assistant', content: [] } }),
    ...inner,
    streamEvent(messageId, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    streamEvent(messageId, { type: 'message_stop' }),
  ];
}

export const subagentDelta = (messageId: string, parent: string, text: string): string[] => [
  streamEvent(messageId, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, parent),
  streamEvent(messageId, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, parent),
];

export const toolResultLine = (toolUseId: string, text: string): string =>
  json({
    type: 'user',
    message: {
      role: 'user',
      content: [{ tool_use_id: toolUseId, type: 'tool_result', content: text, is_error: false }],
    },
    parent_tool_use_id: null,
    session_id: SESSION_ID,
    uuid: crypto.randomUUID(),
  });

export const systemLine = (subtype: string, more: JsonObject = {}): string =>
  json({ type: 'system', subtype, session_id: SESSION_ID, uuid: crypto.randomUUID(), ...more });

export const resultLine = (promptId: string | undefined, more: JsonObject = {}): string =>
  json({
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 228,
    duration_api_ms: 111,
    num_turns: 3,
    result: 'done',
    session_id: SESSION_ID,
    total_cost_usd: 0.000552,
    usage: { input_tokens: 33, output_tokens: 21 },
    ...(promptId === undefined ? {} : { user_message_uuid: promptId, user_message_uuids: [promptId] }),
    model_usage_since_last_result: { 'claude-opus-5-5': { costUSD: 0.000184 } },
    ...more,
  });
