// The wire form of an answer: server-sent events exactly as the Messages API streams them, or one JSON object.
// Source: https://docs.claude.com/en/api/streaming-messages and the types of @anthropic-ai/sdk 1.12.
import type { Answer, AnswerBlock } from './answer.js';
import { words } from './answer-text.js';

export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** One step of a stream: events to send at once, then a wait; `word` tells that it carried a word of text. */
export interface StreamStep {
  events: StreamEvent[];
  word: boolean;
  delayMs: number;
}

/** The events of an answer, lazily: a long answer is never held in memory. */
export function* streamSteps(answer: Answer): Generator<StreamStep> {
  yield step([{ type: 'message_start', message: envelope(answer, [], null, 1) }]);
  for (const [index, block] of answer.blocks.entries()) {
    yield step([{ type: 'content_block_start', index, content_block: emptyBlock(block) }]);
    if (index === 0) yield step([{ type: 'ping' }]);
    for (const delta of deltas(block)) {
      yield {
        events: [{ type: 'content_block_delta', index, delta }],
        word: block.type === 'text',
        delayMs: block.type === 'text' ? block.delayMs : 0,
      };
    }
    yield step([{ type: 'content_block_stop', index }]);
  }
  const usage = { ...inputUsage(answer), ...outputUsage(answer) };
  yield step([
    { type: 'message_delta', delta: { stop_reason: answer.stopReason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]);
}

/** The bytes of an event: name, data and an empty line. */
export function encodeEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The whole message, as a request without `stream` gets it. */
export function wholeMessage(answer: Answer): unknown {
  const message = envelope(answer, answer.blocks.map(wholeBlock), answer.stopReason, answer.usage.outputTokens);
  return { ...message, usage: { ...inputUsage(answer), service_tier: 'standard', ...outputUsage(answer) } };
}

function step(events: StreamEvent[]): StreamStep {
  return { events, word: false, delayMs: 0 };
}

function envelope(answer: Answer, content: unknown[], stopReason: string | null, outputTokens: number): object {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { ...inputUsage(answer), output_tokens: outputTokens, service_tier: 'standard' },
  };
}

function inputUsage(answer: Answer): object {
  return {
    input_tokens: answer.usage.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  };
}

function outputUsage(answer: Answer): object {
  return {
    output_tokens: answer.usage.outputTokens,
    output_tokens_details: { thinking_tokens: answer.usage.thinkingTokens },
  };
}

function emptyBlock(block: AnswerBlock): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: {} };
  }
}

function wholeBlock(block: AnswerBlock): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
  }
}

function* deltas(block: AnswerBlock): Generator<object> {
  switch (block.type) {
    case 'text':
      for (const text of words(block.text)) yield { type: 'text_delta', text };
      return;
    case 'thinking':
      for (const thinking of words(block.thinking)) yield { type: 'thinking_delta', thinking };
      if (block.thinking === '') {
        yield { type: 'thinking_delta', thinking: '', estimated_tokens: block.tokens };
      }
      yield { type: 'signature_delta', signature: block.signature };
      return;
    case 'tool_use':
      yield { type: 'input_json_delta', partial_json: '' };
      for (const partial of pieces(JSON.stringify(block.input)))
        yield { type: 'input_json_delta', partial_json: partial };
  }
}

/** Pieces that cut anywhere but inside a surrogate pair, as tokens do. */
function pieces(json: string): string[] {
  return json.match(/[\s\S]{1,20}(?![\uDC00-\uDFFF])/g) ?? [];
}
