// A prompt's way through the whole product, with the real CLI in a real container.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { containerOf, docker } from './docker-cli.js';
import { startPath, TURN_MS, typesOf, type PathFixture } from './path-fixture.js';

let path: PathFixture;
beforeAll(async () => {
  path = await startPath();
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const processesOf = async (projectId: string): Promise<string[]> => {
  const rows = await path.stack.database.db.client.process.findMany({
    where: { projectId, kind: 'agent' },
    orderBy: { startedAt: 'asc' },
  });
  return rows.map((row) => row.state);
};

it(
  'PATH-1 streams a prompt back and stores its answer, usage and cost',
  async () => {
    const projectId = await path.project();
    const { run_id: runId, session_id: sessionId } = await path.prompt(projectId, 'demo:slow 12 20');
    await path.finished(runId);
    const events = path.eventsOf(runId);
    expect(typesOf(events)).toEqual(
      expect.arrayContaining(['message.user', 'run.queued', 'run.started', 'message.assistant', 'message.result']),
    );
    expect(typesOf(events).at(-1)).toBe('run.finished');
    const assistant = events.find((event) => event.type === 'message.assistant');
    const deltas = path.client.all('delta').filter((delta) => delta.run_id === runId && delta.block_type === 'text');
    expect(new Set(deltas.map((delta) => delta.message_id))).toEqual(new Set([assistant?.payload['message_id']]));
    const text = deltas.map((delta) => delta.text).join('');
    expect(text).toContain('w0 w1 w2');
    expect(JSON.stringify(assistant?.payload['agent'])).toContain(text.trim());
    const row = await path.stack.database.db.client.run.findUniqueOrThrow({ where: { id: runId } });
    expect(row).toMatchObject({ status: 'succeeded', sessionId });
    expect(row.resultText).toContain('w11');
    expect(Number(row.costUsd)).toBeGreaterThan(0);
    expect(row.usage).toMatchObject({ output_tokens: expect.any(Number) as number });
    const { messages } = await path.client.call('get_messages', { project_id: projectId });
    expect(messages.map((event) => event.seq)).toEqual(messages.map((_, index) => index + 1));
  },
  TURN_MS,
);

it(
  'PATH-2 continues a conversation warm, continues it cold, and starts afresh',
  async () => {
    const projectId = await path.project();
    await path.answer(projectId, 'demo:remember the harbour is blue');
    expect(await path.answer(projectId, 'demo:recall')).toContain('the harbour is blue');
    expect(await processesOf(projectId)).toEqual(['live']);
    // Cold: the process is gone, the conversation is on disk.
    await path.shell(projectId, "pkill -f -- '--input-format' ; true");
    expect(await path.answer(projectId, 'demo:recall')).toContain('the harbour is blue');
    expect((await processesOf(projectId)).length).toBe(2);
    const reset = await path.client.call('agent_new_session', { project_id: projectId });
    expect(reset.new_session_id).toBe('');
    expect(await path.answer(projectId, 'demo:recall')).not.toContain('the harbour is blue');
  },
  TURN_MS * 3,
);

it(
  'PATH-3 asks before a tool runs, goes on when it is allowed, and does not run it when it is denied',
  async () => {
    const projectId = await path.project('approvals');
    const { run_id: runId } = await path.prompt(projectId, 'demo:bash echo allowed > made.txt');
    const asked = await path.client.waitFor('event', (event) => event.type === 'permission.requested', TURN_MS);
    expect(asked.payload).toMatchObject({ tool_name: 'Bash', input: { command: 'echo allowed > made.txt' } });
    const wrong = await path.client.refusal('permission_respond', {
      request_id: asked.payload['request_id'],
      input_hash: 'of-something-else',
      behavior: 'allow',
    });
    expect(wrong.code).toBe('permission.input_mismatch');
    const answer = await path.client.call('permission_respond', {
      request_id: String(asked.payload['request_id']),
      input_hash: String(asked.payload['input_hash']),
      behavior: 'allow',
    });
    expect(answer).toMatchObject({ behavior: 'allow', first: true, answered_by: { name: 'admin' } });
    expect((await path.finished(runId)).payload['status']).toBe('succeeded');
    expect(await readFile(join(path.stack.projectRoot, 'approvals', 'made.txt'), 'utf8')).toBe('allowed\n');

    const denied = await path.prompt(projectId, 'demo:bash echo denied > denied.txt');
    const again = await path.client.waitFor(
      'event',
      (event) => event.type === 'permission.requested' && event.run_id === denied.run_id,
      TURN_MS,
    );
    await path.client.call('permission_respond', {
      request_id: String(again.payload['request_id']),
      input_hash: String(again.payload['input_hash']),
      behavior: 'deny',
      message: 'not today',
    });
    await path.finished(denied.run_id);
    expect((await path.shell(projectId, 'ls')).output).not.toContain('denied.txt');
  },
  TURN_MS * 2,
);

it(
  'PATH-4 hands every Claude option to the CLI',
  async () => {
    const projectId = await path.project();
    const { run_id: runId } = await path.prompt(projectId, 'demo:slow 40 100', {
      options: {
        allowed_tools: ['Read', 'Bash(git log:*)'],
        disallowed_tools: ['WebSearch'],
        mcp_config: '{"mcpServers":{}}',
        append_system_prompt: 'Say --please and "thank you".',
        permission_mode: 'acceptEdits',
        model: 'opus',
        fallback_model: 'sonnet',
        add_dirs: ['/tmp'],
        strict_mcp_config: true,
        max_turns: 7,
        max_budget_usd: 3,
      },
    });
    await path.client.waitFor('delta', (delta) => delta.run_id === runId, TURN_MS);
    // While it is writing, the CLI's own argv is looked at from outside.
    const argv = docker(
      'exec',
      '-u',
      '1000:1000',
      containerOf(projectId),
      'sh',
      '-c',
      "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/cmdline 2>/dev/null | grep -q -- '--input-format' && tr '\\0' '\\n' < $p/cmdline && break; done",
    ).split('\n');
    // Flag and value are one entry, so that a value can never become a flag.
    expect(argv).toEqual(
      expect.arrayContaining([
        '--model=opus',
        '--fallback-model=sonnet',
        '--permission-mode=acceptEdits',
        '--allowedTools=Read,Bash(git log:*)',
        '--disallowedTools=WebSearch',
        '--strict-mcp-config',
        '--add-dir=/tmp',
        '--max-turns=7',
        '--max-budget-usd=3',
      ]),
    );
    expect(argv[argv.indexOf('--append-system-prompt') + 1]).toBe('Say --please and "thank you".');
    expect(argv[argv.indexOf('--mcp-config') + 1]).toBe('{"mcpServers":{}}');
    await path.finished(runId);
    // A resumed conversation keeps the system prompt that it began with, so what the model got is read in a new one.
    await path.client.call('agent_new_session', { project_id: projectId });
    const echo = JSON.parse(
      await path.answer(projectId, 'demo:echo', { options: { append_system_prompt: 'Say --please.', model: 'opus' } }),
    ) as { model: string; system_tail: string };
    expect(echo.model).toMatch(/opus/);
    expect(echo.system_tail).toContain('Say --please.');
  },
  TURN_MS * 2,
);

it(
  'PATH-4 skips permissions when it is told to',
  async () => {
    const projectId = await path.project();
    await path.answer(projectId, 'demo:bash echo free > free.txt', {
      options: { dangerously_skip_permissions: true },
    });
    expect((await path.shell(projectId, 'cat free.txt')).output).toBe('free\n');
  },
  TURN_MS,
);

it(
  'PATH-11 keeps the key out of the container, and the container off every network',
  async () => {
    const projectId = await path.project();
    const { run_id: runId } = await path.prompt(projectId, 'demo:slow 60 50');
    await path.client.waitFor('delta', (delta) => delta.run_id === runId, TURN_MS);
    const container = containerOf(projectId);
    const environments = docker(
      'exec',
      '-u',
      '0',
      container,
      'sh',
      '-c',
      "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; cat /proc/net/dev",
    );
    expect(environments).not.toContain('demo-');
    expect(environments).not.toMatch(/DATABASE_URL|REDIS_URL|gnt_/);
    const interfaces = environments.match(/^\s*\w+:/gm)?.map((line) => line.trim()) ?? [];
    expect(interfaces).toContain('lo:');
    expect(interfaces.filter((name) => /^(eth|en|veth)/.test(name))).toEqual([]);
    await path.finished(runId);
  },
  TURN_MS,
);
