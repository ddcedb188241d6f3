// The stories that the fixture server tells: events of a few projects that between them show every state of the page.

export interface StoredEvent {
  project_id: string;
  seq: number;
  event_id: string;
  session_id?: string;
  run_id?: string;
  type: string;
  created_at: string;
  payload: Record<string, unknown>;
}

export const ME = '0197f000-0000-7000-8000-000000000001';
export const ADA = '0197f000-0000-7000-8000-000000000002';
let counter = 0;

/** A new id that sorts by the order of creation, as the server's do. */
export function nextId(): string {
  counter += 1;
  return `0197f001-${String(counter >> 16).padStart(4, '0')}-7000-8000-${counter.toString(16).padStart(12, '0')}`;
}

/** Collects events of one project, a few seconds apart. */
export class Story {
  readonly events: StoredEvent[] = [];
  readonly projectId: string;
  private at: number;

  constructor(projectId: string, minutesAgo: number) {
    this.projectId = projectId;
    this.at = Date.now() - minutesAgo * 60_000;
  }

  add(type: string, payload: Record<string, unknown>, runId?: string): StoredEvent {
    this.at = Math.min(Date.now(), this.at + 3700);
    const event = {
      project_id: this.projectId,
      seq: this.events.length + 1,
      event_id: nextId(),
      ...(runId !== undefined && { run_id: runId }),
      type,
      created_at: new Date(this.at).toISOString(),
      payload,
    };
    this.events.push(event);
    return event;
  }

  user(text: string, runId: string, userId = ME): void {
    this.add('message.user', { text, user_id: userId, user_name: userId === ADA ? 'Ada' : 'You' }, runId);
    this.add('run.queued', { kind: 'prompt', lane: 'main', title: text.split('\n')[0], user_id: userId }, runId);
    this.add('run.started', { kind: 'prompt', dispatch_no: 1, resumed: false }, runId);
  }

  blocks(runId: string, messageId: string, index: number, ...content: Record<string, unknown>[]): void {
    const agent = { type: 'assistant', message: { id: messageId, role: 'assistant', content } };
    this.add('message.assistant', { message_id: messageId, block_index: index, agent }, runId);
  }

  tool(runId: string, name: string, input: Record<string, unknown>, result?: string, isError = false): void {
    const id = `toolu_${nextId()}`;
    this.blocks(runId, `msg_${nextId()}`, 0, { type: 'tool_use', id, name, input });
    if (result === undefined) return;
    const content = [{ type: 'tool_result', tool_use_id: id, content: result, is_error: isError }];
    const agent = { type: 'user', message: { role: 'user', content } };
    this.add('message.tool_result', { tool_use_ids: [id], agent }, runId);
  }

  result(runId: string, cost: number): void {
    const usage = { input_tokens: 412, cache_read_input_tokens: 18_220, output_tokens: 1384 };
    const numbers = { usage, cost_usd: cost, duration_ms: 24_310, num_turns: 4 };
    this.add('message.result', { subtype: 'success', is_error: false, text: '', ...numbers, agent: {} }, runId);
    this.add('run.finished', { status: 'succeeded', kind: 'prompt', duration_ms: 24_310, cost_usd: cost }, runId);
  }
}

const ANSWER = `The checkout total was computed **before** the voucher was applied, so the rounding happened twice.

## What I changed

1. \`src/checkout/total.ts\` now applies the voucher first and rounds once, at the end.
2. A test covers the three currencies that showed the bug.

\`\`\`ts
export function total(cart: Cart, voucher?: Voucher): Money {
  const net = cart.lines.reduce((sum, line) => sum.plus(line.price.times(line.count)), Money.zero);
  return applyVoucher(net, voucher).rounded();
}
\`\`\`

> The old behaviour is still behind the flag \`legacy-rounding\`.

See the [rounding rules](https://example.com/rules) and _keep the flag_ until Friday.`;

export function richStory(projectId: string): Story {
  const story = new Story(projectId, 42);
  story.add('session.created', { session_id: nextId() });
  const first = nextId();
  story.user('The total at checkout is off by one cent with a voucher. Find out why and fix it.', first);
  story.add('sandbox.started', { image: 'gantry/sandbox', ready_ms: 840 }, first);
  story.add('message.system', { subtype: 'init', agent: { model: 'claude-sonnet', permissionMode: 'default' } }, first);
  const message = `msg_${nextId()}`;
  const thought =
    'Two places round: the line total and the cart total. The voucher sits between them, so the cent is lost there.';
  story.blocks(first, message, 0, { type: 'thinking', thinking: thought });
  story.blocks(first, message, 1, { type: 'text', text: 'I will look at how the total is computed.' });
  story.tool(
    first,
    'Grep',
    { pattern: 'rounded\\(', path: 'src/checkout' },
    'src/checkout/total.ts:14\nsrc/checkout/line.ts:9',
  );
  story.tool(
    first,
    'Read',
    { file_path: '/workspace/src/checkout/total.ts' },
    'export function total(cart, voucher) {\n  …\n}',
  );
  permission(
    story,
    first,
    'Edit',
    { file_path: '/workspace/src/checkout/total.ts', old_string: 'a', new_string: 'b' },
    ADA,
  );
  story.tool(
    first,
    'Edit',
    { file_path: '/workspace/src/checkout/total.ts', old_string: 'a', new_string: 'b' },
    'Edited.',
  );
  story.tool(
    first,
    'Bash',
    { command: 'npm test -- checkout', description: 'Run the tests' },
    'Exit code 1\n✗ rounds once (JPY)',
    true,
  );
  story.blocks(first, `msg_${nextId()}`, 0, { type: 'text', text: ANSWER });
  story.result(first, 0.0731);
  command(story, 'npm test -- checkout', 0);
  const second = nextId();
  story.user('Also update the changelog, please.', second, ADA);
  story.tool(second, 'Bash', { command: 'git log --oneline -5' });
  const error = { code: 'agent.model_error', message: 'The model’s service answered 529: overloaded.' };
  story.add('run.finished', { status: 'failed', kind: 'prompt', duration_ms: 61_000, error }, second);
  story.add('session.reset', { old_session_id: nextId(), reason: 'requested' });
  return story;
}

export function permission(story: Story, runId: string, tool: string, input: Record<string, unknown>, by?: string) {
  const request = permissionInfo(story.projectId, runId, tool, input);
  story.add('permission.requested', request, runId);
  if (by !== undefined) {
    const closing = { request_id: request.request_id, status: 'answered', behavior: 'allow' };
    story.add(
      'permission.closed',
      { ...closing, answered_by: { user_id: by, name: by === ADA ? 'Ada' : 'You' } },
      runId,
    );
  }
  return request;
}

export function permissionInfo(projectId: string, runId: string, toolName: string, input: Record<string, unknown>) {
  const ids = { request_id: nextId(), project_id: projectId, session_id: nextId(), run_id: runId };
  const created = new Date().toISOString();
  return {
    ...ids,
    tool_name: toolName,
    input,
    input_hash: 'fixture',
    suggestions: [],
    status: 'open',
    created_at: created,
  };
}

export function command(story: Story, line: string, exitCode: number): string {
  const runId = nextId();
  story.add('run.queued', { kind: 'command', lane: 'main', title: line, user_id: ME }, runId);
  story.add('command.started', { shell_command: line, working_directory: '/workspace', user_id: ME }, runId);
  story.add('command.finished', { exit_code: exitCode, duration_ms: 3120, end_offset: 400 }, runId);
  const status = exitCode === 0 ? 'succeeded' : 'failed';
  story.add('run.finished', { status, kind: 'command', exit_code: exitCode, duration_ms: 3120 }, runId);
  return runId;
}

export function longStory(projectId: string): Story {
  const story = new Story(projectId, 3000);
  for (let turn = 1; turn <= 150; turn += 1) {
    const runId = nextId();
    story.user(`Question number ${turn}`, runId);
    story.blocks(runId, `msg_${nextId()}`, 0, { type: 'text', text: `Answer number **${turn}**.` });
    story.result(runId, 0.0012);
  }
  return story;
}
