// What a line means, and that reading can begin anew at any settled line.
import fc from 'fast-check';
import type { LineReading } from '../agent-driver.port.js';
import {
  assistantLine,
  messageLines,
  resultLine,
  SESSION_ID,
  subagentDelta,
  systemLine,
  toolResultLine,
  type BlockSpec,
} from './claude-lines.fixture.js';
import { ClaudeTranscript } from './claude-transcript.js';

const PROMPT = '0190aaaa-0000-7000-8000-000000000001';

const readAll = (lines: string[]): LineReading[] => {
  const transcript = new ClaudeTranscript(PROMPT);
  return lines.map((line) => transcript.read(line));
};
const eventsOf = (readings: LineReading[]) => readings.flatMap((reading) => reading.events);

const block = fc.record<BlockSpec>({
  type: fc.constantFrom('text', 'thinking', 'tool_use'),
  pieces: fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { maxLength: 5 }),
});
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.array(block, { minLength: 1, maxLength: 3 }).map((blocks) => ({ blocks })) },
  fc.constantFrom(
    { line: toolResultLine('toolu_1', 'ok') },
    { line: systemLine('status') },
    { line: systemLine('init') },
  ),
);
const lines = fc
  .array(piece, { maxLength: 6 })
  .map((pieces) => pieces.flatMap((one, at) => ('line' in one ? [one.line] : messageLines(`msg_${at}`, one.blocks))));

describe('ClaudeTranscript', () => {
  it('AGT-2 gives the same events when a new worker begins after any settled line', () => {
    fc.assert(
      fc.property(lines, (all) => {
        const whole = readAll(all);
        whole.forEach((reading, at) => {
          if (!reading.settled) return;
          const rest = readAll(all.slice(at + 1));
          expect(rest.map(({ events }) => events)).toEqual(whole.slice(at + 1).map(({ events }) => events));
          expect(rest.map(({ delta }) => delta)).toEqual(whole.slice(at + 1).map(({ delta }) => delta));
        });
      }),
    );
  });

  it('AGT-2 is not settled while a block is being written', () => {
    const readings = readAll(messageLines('msg_1', [{ type: 'text', pieces: ['a', 'b'] }]));
    expect(readings.map(({ settled }) => settled)).toEqual([true, false, false, false, true, true, true, true]);
  });

  it('AGT-40 holds no retry back: the block of the failed request is over, also when its end was not told', () => {
    const [start, blockStart, delta] = messageLines('msg_1', [{ type: 'text', pieces: ['half'] }]);
    const lines = [start ?? '', blockStart ?? '', delta ?? '', systemLine('api_retry')];
    const readings = readAll([...lines, ...messageLines('msg_1', [{ type: 'text', pieces: ['whole'] }])]);
    expect(readings[3]).toMatchObject({
      settled: true,
      blockClosed: { messageId: 'msg_1', blockIndex: 0 },
      events: [{ payload: { subtype: 'api_retry' } }],
    });
    expect(eventsOf(readings.slice(4))).toMatchObject([{ payload: { message_id: 'msg_1', block_index: 0 } }]);
    expect(readings.map(({ delta: live }) => live?.text).filter(Boolean)).toEqual(['half', 'whole']);
  });

  it('AGT-40 holds nothing back for a subagent that ended in the middle of a block', () => {
    const readings = readAll([...subagentDelta('msg_s', 'toolu_1', 'half'), toolResultLine('toolu_1', 'aborted')]);
    expect(readings.map(({ settled }) => settled)).toEqual([false, false, true]);
  });

  it('AGT-3 streams exactly the text that the durable event has, under the same message and block', () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), (blocks) => {
        const readings = readAll(messageLines('msg_1', blocks));
        const streamed = new Map<number, string>();
        for (const { delta } of readings) {
          if (delta === undefined) continue;
          expect(delta.messageId).toBe('msg_1');
          streamed.set(delta.blockIndex, (streamed.get(delta.blockIndex) ?? '') + delta.text);
        }
        const events = eventsOf(readings);
        expect(events.map(({ payload }) => payload['block_index'])).toEqual(blocks.map((_, index) => index));
        blocks.forEach(({ pieces }, index) => expect(streamed.get(index) ?? '').toBe(pieces.join('')));
      }),
    );
  });

  it('AGT-4 keeps the agent’s own JSON as it came', () => {
    const line = assistantLine('msg_9', [{ type: 'text', text: 'hi' }]);
    expect(eventsOf(readAll([line]))).toEqual([
      {
        type: 'message.assistant',
        payload: { message_id: 'msg_9', block_index: 0, agent: JSON.parse(line) as unknown },
      },
    ]);
  });

  it('AGT-4 counts the blocks of a message that was not streamed', () => {
    const line = (text: string) => assistantLine('msg_9', [{ type: 'text', text }]);
    expect(eventsOf(readAll([line('a'), line('b')])).map(({ payload }) => payload['block_index'])).toEqual([0, 1]);
  });

  it('AGT-4 names the tool uses that a result answers', () => {
    const [event] = eventsOf(readAll([toolResultLine('toolu_7', 'ok')]));
    expect(event).toMatchObject({ type: 'message.tool_result', payload: { tool_use_ids: ['toolu_7'] } });
  });

  it('AGT-4 keeps what it does not know and drops what passes', () => {
    const kept = ['init', 'task_notification', 'api_retry', 'something_new'];
    const readings = readAll([...kept, 'status', 'thinking_tokens', 'hook_progress'].map((name) => systemLine(name)));
    expect(eventsOf(readings).map(({ payload }) => payload['subtype'])).toEqual(kept);
    expect(eventsOf(readAll(['not json', '{"type":"keep_alive"}']))).toEqual([
      { type: 'message.system', payload: { subtype: 'unparsed', text: 'not json' } },
    ]);
  });

  it('AGT-10 names the option that the CLI would not start with', () => {
    const stderr = 'Error: Invalid MCP configuration:\nMCP config file not found: /workspace/mcp.json\n';
    const transcript = new ClaudeTranscript(PROMPT);
    expect(transcript.refusedOptions('Error: something else')).toEqual([]);
    expect(transcript.refusedOptions(stderr)).toEqual(['mcp_config']);
    transcript.read(systemLine('init'));
    expect(transcript.refusedOptions(stderr)).toEqual([]);
  });

  it('AGT-5 takes only the result of its own prompt for the end', () => {
    const other = resultLine('0190aaaa-0000-7000-8000-000000000002');
    const [first, second, third] = readAll([other, resultLine(undefined), resultLine(PROMPT)]);
    for (const reading of [first, second]) {
      expect(reading?.result).toBeUndefined();
      expect(reading?.events[0]?.payload['subtype']).toBe('background_result');
    }
    expect(third?.result).toMatchObject({ text: 'done', totalCostUsd: 0.000552, costSinceLastUsd: 0.000184 });
    expect(third?.events).toEqual([]);
  });

  it('AGT-39 knows whether the agent took its prompt', () => {
    const transcript = new ClaudeTranscript(PROMPT);
    const lifecycle = (uuid: string) =>
      JSON.stringify({ type: 'command_lifecycle', command_uuid: uuid, state: 'queued' });
    for (const line of [systemLine('init'), lifecycle('another'), resultLine('another')]) transcript.read(line);
    expect(transcript.promptTaken).toBe(false);
    transcript.read(lifecycle(PROMPT));
    expect(transcript.promptTaken).toBe(true);
  });

  it('AGT-6 tells the conversation’s id when there is something to resume', () => {
    const readings = readAll([
      systemLine('init'),
      assistantLine('m', [{ type: 'text', text: 'a' }]),
      assistantLine('m', [{ type: 'text', text: 'b' }]),
    ]);
    expect(readings.map(({ agentSessionId }) => agentSessionId)).toEqual([undefined, SESSION_ID, undefined]);
  });

  it('AGT-7 keeps the text of a block whose agent died, as an aborted message', () => {
    const transcript = new ClaudeTranscript(PROMPT);
    const all = messageLines('msg_1', [{ type: 'text', pieces: ['half a ', 'sentence'] }]);
    for (const line of all.slice(0, 4)) transcript.read(line);
    expect(transcript.abandon()).toEqual([
      {
        type: 'message.assistant',
        payload: {
          message_id: 'msg_1',
          block_index: 0,
          agent: expect.objectContaining({
            aborted: true,
            message: expect.objectContaining({ content: [{ type: 'text', text: 'half a sentence' }] }) as unknown,
          }) as unknown,
        },
      },
    ]);
    expect(transcript.abandon()).toEqual([]);
  });

  it('AGT-3 does not stream what a subagent writes, and still waits for its block', () => {
    const readings = readAll(subagentDelta('msg_s', 'toolu_parent', 'inner'));
    expect(readings.map(({ delta, settled }) => [delta, settled])).toEqual([
      [undefined, false],
      [undefined, false],
    ]);
  });

  it('AGT-8 tells which tool uses wait for an answer when it is greeted again', () => {
    const greeting = {
      type: 'control_response',
      response: {
        subtype: 'success',
        request_id: 'r',
        pending_permission_requests: [
          { type: 'control_request', request_id: 'q', request: { subtype: 'can_use_tool', tool_use_id: 'toolu_3' } },
        ],
      },
    };
    expect(readAll([JSON.stringify(greeting)])[0]?.openToolUses).toEqual(['toolu_3']);
  });
});
