// The stream of events: its order, and that its pieces add up to the whole message.
import fc from 'fast-check';
import type { Answer, AnswerBlock } from './answer.js';
import { encodeEvent, streamSteps, type StreamEvent, wholeMessage } from './message-stream.js';

const usage = { inputTokens: 3, outputTokens: 4, thinkingTokens: 1 };

function answerOf(blocks: AnswerBlock[]): Answer {
  return { id: 'msg_1', model: 'm', blocks, stopReason: 'end_turn', usage, faults: [], turnKey: 'k' };
}

function eventsOf(blocks: AnswerBlock[]): StreamEvent[] {
  return [...streamSteps(answerOf(blocks))].flatMap((step) => step.events);
}

interface Folded {
  type: string;
  [field: string]: unknown;
}

/** Puts blocks together as a client of the API does. */
function fold(events: StreamEvent[]): Folded[] {
  const blocks: Folded[] = [];
  const json: string[] = [];
  for (const event of events) {
    const index = event['index'] as number;
    if (event.type === 'content_block_start') {
      blocks[index] = { ...(event['content_block'] as Folded) };
      json[index] = '';
    }
    if (event.type !== 'content_block_delta') continue;
    const block = blocks[index]!;
    const delta = event['delta'] as Record<string, string>;
    if (delta['type'] === 'text_delta') block['text'] = `${String(block['text'])}${delta['text']!}`;
    if (delta['type'] === 'thinking_delta') block['thinking'] = `${String(block['thinking'])}${delta['thinking']!}`;
    if (delta['type'] === 'signature_delta') block['signature'] = delta['signature'];
    if (delta['type'] === 'input_json_delta') json[index] = `${json[index]!}${delta['partial_json']!}`;
  }
  return blocks.map((block, index) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(json[index]!) as unknown } : block,
  );
}

describe('streamSteps', () => {
  it('DEMO-2 sends the events of the API in their order, with their fields', () => {
    const events = eventsOf([
      { type: 'thinking', thinking: 'a b', signature: 's', tokens: 1 },
      { type: 'text', text: 'hi there', delayMs: 0 },
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
    ]);
    expect(events.map((event) => event.type)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]).toMatchObject({
      message: {
        id: 'msg_1',
        role: 'assistant',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    });
    expect(events[5]).toEqual({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 's' },
    });
    expect(events[12]).toMatchObject({ index: 2, delta: { type: 'input_json_delta', partial_json: '' } });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 4, output_tokens_details: { thinking_tokens: 1 } },
    });
  });

  it('DEMO-2 writes an event as its name, its data in one line, and an empty line', () => {
    expect(encodeEvent({ type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('DEMO-3 streams in pieces what it sends whole without streaming', () => {
    const text = fc.string({ unit: 'grapheme' });
    const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text, delayMs: fc.constant(0) }),
      fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: text, tokens: fc.nat() }),
      fc.record({
        type: fc.constant('tool_use' as const),
        id: text,
        name: text,
        input: fc.dictionary(
          fc.string(),
          fc.jsonValue().map((value) => value as unknown),
          { noNullPrototype: true },
        ),
      }),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
        const wire = eventsOf(blocks).map((event) => JSON.parse(JSON.stringify(event)) as StreamEvent);
        const whole = JSON.parse(JSON.stringify(wholeMessage(answerOf(blocks)))) as { content: unknown };
        expect(fold(wire)).toEqual(whole.content);
      }),
    );
  });
});
