// What a process is launched with: its arguments, its environment, its user - read inside the sandbox.
import { createAgentFixture, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture();
  await fixture.startWorker();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

/** argv and environment of the agent that lives in the project's sandbox, and its user. */
async function inside(projectId: string): Promise<{ argv: string[]; env: Record<string, string>; uid: number }> {
  const script = `
    pid=$(for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = claude ] && basename $p; done | head -1)
    base64 -w0 /proc/$pid/cmdline; echo; base64 -w0 /proc/$pid/environ; echo; stat -c %u /proc/$pid`;
  const { runId } = await fixture.command(projectId, { shell: script });
  await fixture.ended(runId);
  const [argv = '', env = '', uid = ''] = (await fixture.output(runId)).stdout.split('\n');
  const list = (text: string) => Buffer.from(text, 'base64').toString('utf8').split('\0').slice(0, -1);
  const pairs = list(env).map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return { argv: list(argv), env: Object.fromEntries(pairs), uid: Number(uid) };
}

const ALL = {
  dangerously_skip_permissions: true,
  allowed_tools: ['Read', 'Bash(git log:*)'],
  disallowed_tools: ['WebFetch'],
  mcp_config: '{"mcpServers":{"shelf":{"command":"/bin/false"}}}',
  append_system_prompt: '--be brief\nand "kind" $HOME',
  permission_mode: 'plan',
  model: 'sonnet',
  fallback_model: 'haiku',
  add_dirs: ['/var/tmp', 'sub dir'],
  strict_mcp_config: true,
  max_turns: 7,
};

describe('the options of a prompt', () => {
  it('AGT-9 all reach the CLI as arguments of their own, and take effect', async () => {
    const { projectId } = await fixture.newProject();
    const run = await fixture.ended((await fixture.prompt(projectId, 'demo:echo', { options: ALL })).runId);
    const { argv } = await inside(projectId);
    expect(argv.slice(1)).toEqual(
      expect.arrayContaining([
        '--dangerously-skip-permissions',
        '--allowedTools=Read,Bash(git log:*)',
        '--disallowedTools=WebFetch',
        ALL.mcp_config,
        '--append-system-prompt=--be brief\nand "kind" $HOME',
        '--permission-mode=bypassPermissions',
        '--model=sonnet',
        '--fallback-model=haiku',
        '--add-dir=/var/tmp',
        '--add-dir=/workspace/sub dir',
        '--strict-mcp-config',
        '--max-turns=7',
        '--setting-sources=',
      ]),
    );
    expect(argv[argv.indexOf(ALL.mcp_config) - 1]).toBe('--mcp-config');
    const echo = JSON.parse(run.resultText ?? '') as { model: string; system_tail: string; tools: string[] };
    expect(echo.model).toContain('sonnet');
    expect(echo.system_tail).toContain('--be brief\nand "kind" $HOME');
    expect(echo.tools).not.toContain('WebFetch');
    const [init] = (await fixture.messages(projectId, run.runId)).filter(
      ({ payload }) => payload['subtype'] === 'init',
    );
    expect(init?.payload['agent']).toMatchObject({
      permissionMode: 'bypassPermissions',
      mcp_servers: [expect.objectContaining({ name: 'shelf' })],
    });
  }, 60_000);

  it('AGT-10 are refused, before anything starts, when they could be read as flags', async () => {
    const { projectId } = await fixture.newProject();
    const options = { mcp_config: '../../etc/passwd' };
    const run = await fixture.ended((await fixture.prompt(projectId, 'hi', { options })).runId);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.options_invalid', processId: null });
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say still here')).runId);
    expect(next.resultText).toBe('still here');
  }, 60_000);

  it('AGT-10 are named when the CLI itself will not start with them, and the next prompt goes on', async () => {
    const { projectId } = await fixture.newProject();
    for (const mcp_config of ['./--debug', '{"servers":{}}']) {
      const run = await fixture.ended((await fixture.prompt(projectId, 'hi', { options: { mcp_config } })).runId);
      expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.options_invalid' });
    }
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say still here')).runId);
    expect(next.resultText).toBe('still here');
  }, 60_000);

  it.each(['-', '--debug'])(
    'AGT-10 reach the CLI as a value when they are free text: %s',
    async (text) => {
      const { projectId } = await fixture.newProject();
      const options = { append_system_prompt: text };
      const run = await fixture.ended((await fixture.prompt(projectId, 'demo:echo', { options })).runId);
      const echo = JSON.parse(run.resultText ?? '') as { system_tail: string };
      expect(echo.system_tail.endsWith(text)).toBe(true);
    },
    60_000,
  );

  it('AGT-13 the environment has a token of its own and nothing of the worker’s', async () => {
    process.env['WORKER_SECRET_FOR_TEST'] = 'must-not-travel';
    try {
      const { projectId } = await fixture.newProject();
      await fixture.ended((await fixture.prompt(projectId, 'demo:say hi')).runId);
      const { env, uid } = await inside(projectId);
      expect(uid).toBe(1000);
      expect(env['ANTHROPIC_BASE_URL']).toBe('http://localhost:8082/broker/anthropic');
      expect(env['ANTHROPIC_API_KEY']).toMatch(/^[0-9a-f]{64}$/);
      const all = JSON.stringify(env);
      for (const secret of ['must-not-travel', fixture.modelKey, 'postgresql://', 'DATABASE_URL', 'NODE_OPTIONS']) {
        expect(all).not.toContain(secret);
      }
      expect(fixture.model.requests().every(({ headers }) => headers['x-api-key'] === fixture.modelKey)).toBe(true);
    } finally {
      delete process.env['WORKER_SECRET_FOR_TEST'];
    }
  }, 60_000);

  it('AGT-34 dangerously_skip_permissions works for the sandbox’s user: tools run without a question', async () => {
    const { projectId } = await fixture.newProject();
    const options = { dangerously_skip_permissions: true };
    const run = await fixture.prompt(projectId, 'demo:bash id -u > who.txt; touch made', { options });
    expect((await fixture.ended(run.runId)).status).toBe('succeeded');
    const types = (await fixture.messages(projectId, run.runId)).map(({ type }) => type);
    expect(types).not.toContain('permission.requested');
    const shown = await fixture.command(projectId, { shell: 'cat who.txt; ls made' });
    await fixture.ended(shown.runId);
    expect((await fixture.output(shown.runId)).stdout).toBe('1000\nmade\n');
  }, 60_000);

  it('AGT-9 a turn limit ends the run as such, and the conversation goes on', async () => {
    const { projectId } = await fixture.newProject();
    const options = { max_turns: 1, dangerously_skip_permissions: true };
    const run = await fixture.ended((await fixture.prompt(projectId, 'demo:bash echo 1 ;; echo 2', { options })).runId);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.turns_exhausted' });
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say on')).runId);
    expect(next).toMatchObject({ status: 'succeeded', sessionId: run.sessionId });
  }, 60_000);

  it('AGT-9 a budget ends the run as such', async () => {
    const { projectId } = await fixture.newProject();
    const options = { max_budget_usd: 0.001, dangerously_skip_permissions: true };
    const run = await fixture.ended((await fixture.prompt(projectId, 'demo:bash echo 1 ;; echo 2', { options })).runId);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.budget_exhausted' });
  }, 60_000);
});
