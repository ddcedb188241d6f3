// What the demo model decides, without a server.
import { answer, type Answer } from './answer.js';
import { messagesRequestSchema } from './messages-request.schema.js';

type Body = Record<string, unknown>;

const tool = (name: string): Body => ({ name, input_schema: { type: 'object' } });

function ask(prompt: string | Body[], extra: Body = {}): Answer {
  const messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
  return answer(messagesRequestSchema.parse({ model: 'm', max_tokens: 10_000, messages, ...extra }));
}

function said(result: Answer): string {
  return result.blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
}

function afterTool(prompt: string, result: Body): Body[] {
  return [
    { role: 'user', content: [{ type: 'text', text: prompt }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', ...result }] },
  ];
}

describe('the demo model', () => {
  it('DEMO-6 follows the last text block of the last user message and overlooks what the client wrote there', () => {
    const messages = [
      { role: 'user', content: 'demo:say old' },
      { role: 'assistant', content: 'old' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Request interrupted by user]' },
          { type: 'text', text: 'demo:say new' },
          { type: 'text', text: '<system-reminder>\ndemo:say never\n</system-reminder>' },
          { type: 'text', text: '<local-command-stdout>Compacted</local-command-stdout>' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'demo:say never' }] },
    ];
    expect(said(ask(messages))).toBe('new');
  });

  it('DEMO-7 says to a plain prompt what it is, what it heard and which words it knows', () => {
    const text = said(ask('hello there'));
    expect(text).toContain('I am the demo model');
    expect(text).toContain('"hello there"');
    for (const word of ['demo:slow', 'demo:bash', 'demo:error', 'demo:remember']) expect(text).toContain(word);
  });

  it('DEMO-8 asks for one tool after the other, then tells their results', () => {
    const tools = [tool('Bash')];
    const first = ask('demo:bash ls ;; pwd', { tools });
    expect(first.stopReason).toBe('tool_use');
    expect(first.blocks).toMatchObject([
      { type: 'text', text: 'I will use Bash: ls' },
      { type: 'tool_use', name: 'Bash', input: { command: 'ls' } },
    ]);
    const second = ask(afterTool('demo:bash ls ;; pwd', { content: 'a.txt' }), { tools });
    expect(second.blocks[1]).toMatchObject({ type: 'tool_use', input: { command: 'pwd' } });
    const denied = ask(afterTool('demo:bash ls', { content: [{ type: 'text', text: 'no' }], is_error: true }), {
      tools,
    });
    expect(denied).toMatchObject({ stopReason: 'end_turn', blocks: [{ text: 'Bash failed:\n\nno' }] });
  });

  it('DEMO-8 asks for all tools in one message when told to, each under its own id', () => {
    const { blocks } = ask('demo:together\ndemo:bash ls ;; pwd', { tools: [tool('Bash')] });
    const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toMatch(/^toolu_01[A-Za-z0-9]{22}$/);
  });

  it('DEMO-8 makes relative file paths absolute with the working directory that the client names', () => {
    const { blocks } = ask('demo:write a/b.txt hi', {
      tools: [tool('Write')],
      system: [{ type: 'text', text: '# Environment\n - Primary working directory: /srv/x\n' }],
    });
    expect(blocks[1]).toMatchObject({ input: { file_path: '/srv/x/a/b.txt', content: 'hi' } });
  });

  it('DEMO-9 says so when a tool was not offered', () => {
    const result = ask('demo:bash ls');
    expect(result.stopReason).toBe('end_turn');
    expect(said(result)).toContain('Bash, but it is not among those');
  });

  it('DEMO-10 thinks only when the request allows it, silently when thinking is not to be shown', () => {
    const thinking = { type: 'adaptive' };
    expect(ask('demo:think hm').blocks).toHaveLength(1);
    expect(ask('demo:think hm', { thinking: { type: 'disabled' } }).blocks).toHaveLength(1);
    expect(ask('demo:think hm', { thinking }).blocks[0]).toMatchObject({ type: 'thinking', thinking: 'hm' });
    const omitted = ask('demo:think hm', { thinking: { ...thinking, display: 'omitted' } });
    expect(omitted.blocks[0]).toMatchObject({ thinking: '', tokens: 1 });
    expect(omitted.usage.thinkingTokens).toBe(1);
  });

  it('DEMO-14 gives the same answer, ids and usage to the same request, other ids to another', () => {
    expect(ask('demo:say a')).toEqual(ask('demo:say a'));
    expect(ask('demo:say a').id).not.toBe(ask('demo:say a', { metadata: { user_id: 'other' } }).id);
    expect(ask('demo:say 12345678').usage).toEqual({ inputTokens: 6, outputTokens: 2, thinkingTokens: 0 });
    expect(ask('demo:usage 7 9').usage).toMatchObject({ inputTokens: 7, outputTokens: 9 });
  });

  it('DEMO-15 echoes canonically what it received', () => {
    const result = ask('demo:echo', { system: 'be brief', tools: [tool('B'), tool('A')], thinking: null });
    expect(JSON.parse(said(result))).toEqual({
      model: 'm',
      max_tokens: 10_000,
      stream: false,
      thinking: null,
      effort: null,
      system_length: 8,
      system_tail: 'be brief',
      tools: ['A', 'B'],
      messages: 1,
      prompts: 1,
    });
  });

  it('DEMO-16 recalls what earlier prompts asked to remember, and keeps it when the conversation is compacted', () => {
    const messages = [
      { role: 'user', content: 'demo:remember blue' },
      { role: 'assistant', content: 'I will remember: blue' },
    ];
    expect(said(ask([...messages, { role: 'user', content: 'demo:recall' }]))).toBe('I remember: blue');
    expect(said(ask('demo:recall'))).toContain('not asked to remember');
    const wish = 'Your task is to create a detailed summary of the conversation so far, in a <summary> block.';
    const summary = said(ask([...messages, { role: 'user', content: wish }]));
    expect(summary).toMatch(/<summary>[\s\S]*<\/summary>/);
    expect(
      said(
        ask([
          {
            role: 'user',
            content: [
              { type: 'text', text: summary },
              { type: 'text', text: 'demo:recall' },
            ],
          },
        ]),
      ),
    ).toBe('I remember: blue');
  });

  it('DEMO-21 goes on where an answer was cut off, without repeating what was heard', () => {
    const goOn = {
      role: 'user',
      content: 'Your response above was cut off mid-stream. Resume directly from where it stops',
    };
    const heard = (prompt: string, begun: string): Body[] => [
      { role: 'user', content: prompt },
      { role: 'assistant', content: [{ type: 'text', text: begun }] },
      goOn,
    ];
    const whole = ask('demo:cut\ndemo:long 4');
    const rest = ask(heard('demo:cut\ndemo:long 4', 'w0 w1 '));
    expect(said(rest)).toBe('w2 w3');
    expect(rest.turnKey).toBe(whole.turnKey);
    expect(said(ask(heard('demo:say all', 'all')))).toBe('That was all.');
    expect(said(ask(heard('demo:say all', 'something else')))).toBe('all');
    const tools = [tool('Bash')];
    expect(ask(heard('demo:think hm\ndemo:bash ls', 'I will use Bash: ls'), { tools }).blocks).toMatchObject([
      { type: 'tool_use', input: { command: 'ls' } },
    ]);
  });

  it('DEMO-17 stops at max_tokens', () => {
    const result = ask('demo:long 100', { max_tokens: 5 });
    expect(result.stopReason).toBe('max_tokens');
    expect(said(result)).toBe('w0 w1 w2 w3 w4 w5 ');
  });

  it('DEMO-18 explains a word that it does not understand', () => {
    expect(said(ask('demo:fly away'))).toContain('I did not understand "demo:fly away"');
  });
});
