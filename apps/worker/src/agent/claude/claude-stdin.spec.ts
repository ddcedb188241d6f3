// Whole lines with keys, and what of the past a new session sees.
import fc from 'fast-check';
import type { AgentInput } from '../agent-driver.port.js';
import { ClaudeReplayFilter } from './claude-replay-filter.js';
import { answerKey, ClaudeStdin, keyOfLine, promptKey } from './claude-stdin.js';

const PROMPT = JSON.stringify({ type: 'user', uuid: 'u-1', message: { role: 'user', content: 'hi\nthere' } });
const ANSWER = JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: 'q-1' } });
const REQUEST = JSON.stringify({ type: 'control_request', request_id: 'r-1', request: { subtype: 'initialize' } });

async function writeInPieces(text: string, sizes: number[]): Promise<AgentInput[]> {
  const written: AgentInput[] = [];
  const stdin = new ClaudeStdin(async (input) => {
    written.push(input);
  });
  let at = 0;
  for (const size of [...sizes, text.length]) {
    stdin.write(text.slice(at, at + size));
    at += size;
  }
  await new Promise<void>((resolve) => stdin.end(resolve));
  return written;
}

describe('ClaudeStdin', () => {
  it('AGT-18 writes whole lines, each under the key of what it is, however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }), async (sizes) => {
        const lines = [REQUEST, PROMPT, ANSWER];
        const written = await writeInPieces(lines.map((line) => `${line}\n`).join(''), sizes);
        expect(written).toEqual([
          { key: 'request/r-1', line: `${REQUEST}\n` },
          { key: promptKey('u-1'), line: `${PROMPT}\n` },
          { key: answerKey('q-1'), line: `${ANSWER}\n` },
        ]);
      }),
    );
  });

  it('AGT-18 gives a line that it does not know a key of its own', () => {
    expect(keyOfLine('{"type":"other"}')).not.toBe(keyOfLine('{"type":"other"}'));
  });

  it('AGT-18 fails when a line could not be written, and writes none after it', async () => {
    const written: string[] = [];
    const stdin = new ClaudeStdin(async ({ key }) => {
      written.push(key);
      throw new Error('gone');
    });
    const failed = new Promise((resolve) => stdin.once('error', resolve));
    stdin.write(`${PROMPT}\n${ANSWER}\n`);
    expect(await failed).toEqual(new Error('gone'));
    expect(written).toEqual([promptKey('u-1')]);
  });
});

const question = (id: string, subtype: string) =>
  JSON.stringify({ type: 'control_request', request_id: id, request: { subtype } });
const withdrawal = (id: string) => JSON.stringify({ type: 'control_cancel_request', request_id: id });

describe('ClaudeReplayFilter', () => {
  const filter = () => new ClaudeReplayFilter((key) => key === answerKey('answered'));

  it('AGT-19 drops answers to a session that is gone, and questions that the greeting repeats', () => {
    for (const line of [ANSWER, question('a', 'can_use_tool'), question('b', 'request_user_dialog')]) {
      expect(filter().keep(line)).toBe(false);
    }
  });

  it('AGT-19 delivers an unanswered request that nothing repeats, and its withdrawal', () => {
    const replay = filter();
    expect(replay.keep(question('open', 'mcp_message'))).toBe(true);
    expect(replay.keep(withdrawal('open'))).toBe(true);
    expect(replay.keep(question('answered', 'mcp_message'))).toBe(false);
    expect(replay.keep(withdrawal('answered'))).toBe(false);
  });

  it('AGT-19 delivers messages', () => {
    for (const line of ['{"type":"assistant"}', '{"type":"system"}', 'no json']) expect(filter().keep(line)).toBe(true);
  });
});
