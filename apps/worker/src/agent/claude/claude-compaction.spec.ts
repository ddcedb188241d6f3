import { ClaudeTranscript } from './claude-transcript.js';

const PROMPT = '0190a6a4-0000-7000-8000-000000000001';
const result = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  num_turns: 0,
  duration_api_ms: 0,
  result: '',
  total_cost_usd: 0,
  user_message_uuid: PROMPT,
  local_command: 'compact',
};
const failed = (text: string) => ({
  type: 'assistant',
  message: { id: 'm', model: '<synthetic>', content: [{ type: 'text', text }] },
  local_command_outcome: { kind: 'failed' },
});
const read = (...lines: object[]) => {
  const transcript = new ClaudeTranscript(PROMPT);
  return lines.map((line) => transcript.read(JSON.stringify(line)));
};

describe('a compaction', () => {
  it('SES-8 is told with its trigger and its tokens', () => {
    const compact_metadata = { trigger: 'manual', pre_tokens: 13_718, post_tokens: 2_788 };
    const [boundary, end] = read({ type: 'system', subtype: 'compact_boundary', compact_metadata }, result);
    expect(boundary?.events).toMatchObject([
      { type: 'session.compacted', payload: { trigger: 'manual', pre_tokens: 13_718, post_tokens: 2_788 } },
    ]);
    expect(end?.result).toMatchObject({ text: '', processContinues: true });
    expect(end?.result?.error).toBeUndefined();
  });

  it.each([
    [[failed('Error: No messages to compact')], 'session.nothing_to_compact', 'No messages to compact'],
    [
      [failed('Error: Not enough messages to compact.')],
      'session.nothing_to_compact',
      'Not enough messages to compact.',
    ],
    [
      [{ type: 'system', subtype: 'status', status: null, compact_result: 'failed', compact_error: 'API Error: 500' }],
      'agent.failed',
      'API Error: 500',
    ],
  ])('SES-8 of which nothing came is a failure, whatever its result says (%#)', (lines, code, message) => {
    const end = read(...lines, result).at(-1);
    expect(end?.result?.error).toEqual({ code, message });
  });

  it('SES-8 says nothing of another result', () => {
    const { local_command: _command, ...other } = result;
    expect(read(failed('Error: No messages to compact'), other).at(-1)?.result?.error).toBeUndefined();
  });
});
