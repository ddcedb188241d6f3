// What a prompt's options become, and that none of their values can become a flag.
import fc from 'fast-check';
import type { AgentWishes } from '../agent-driver.port.js';
import { planClaude, toSdkOptions } from './claude-options.js';

const wishes = (run: Record<string, unknown>, more: Partial<AgentWishes> = {}): AgentWishes => ({
  run,
  session: { model: null, permissionMode: null },
  project: {},
  cwd: '/workspace',
  ...more,
});
const plan = (run: Record<string, unknown>, more: Partial<AgentWishes> = {}) => planClaude(wishes(run, more), 'v1');

describe('planClaude', () => {
  it('AGT-9 passes every option on', () => {
    const all = {
      dangerously_skip_permissions: true,
      allowed_tools: ['Read', 'Bash(git log:*)'],
      disallowed_tools: ['WebFetch'],
      mcp_config: '{"mcpServers":{}}',
      append_system_prompt: '- be brief',
      permission_mode: 'plan',
      model: 'sonnet',
      fallback_model: 'haiku',
      add_dirs: ['/data', 'inner'],
      strict_mcp_config: true,
      max_turns: 5,
      max_budget_usd: 1.5,
    };
    expect(toSdkOptions(plan(all))).toEqual({
      cwd: '/workspace',
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      model: 'sonnet',
      fallbackModel: 'haiku',
      allowedTools: ['Read', 'Bash(git log:*)'],
      disallowedTools: ['WebFetch'],
      additionalDirectories: ['/data', '/workspace/inner'],
      strictMcpConfig: true,
      maxTurns: 5,
      maxBudgetUsd: 1.5,
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      extraArgs: {
        'append-system-prompt': '- be brief',
        'mcp-config': '{"mcpServers":{}}',
        'dangerously-skip-permissions': null,
      },
    });
  });

  it('AGT-9 asks people by default', () => {
    expect(plan({}).permissionMode).toBe('default');
    expect(toSdkOptions(plan({})).allowDangerouslySkipPermissions).toBeUndefined();
  });

  it('AGT-9 prefers the run’s wish to the conversation’s, and that to the project’s', () => {
    const project = { model: 'opus', permission_mode: 'plan', max_turns: 3 };
    const session = { model: 'sonnet', permissionMode: 'acceptEdits' };
    const of = (run: Record<string, unknown>, known = session) => plan(run, { project, session: known });
    expect(of({ model: 'haiku' })).toMatchObject({ model: 'haiku', permissionMode: 'acceptEdits' });
    expect(of({})).toMatchObject({ model: 'sonnet', options: { max_turns: 3 } });
    const bare = { model: null as never, permissionMode: null as never };
    expect(of({}, bare)).toMatchObject({ model: 'opus', permissionMode: 'plan' });
  });

  it('AGT-10 refuses whatever could be read as a flag', () => {
    const flags = ['--dangerously-skip-permissions', '-p', '--model=x', '-'];
    for (const flag of flags) {
      for (const [field, run] of Object.entries({
        model: { model: flag },
        fallback_model: { fallback_model: flag },
        'allowed_tools.0': { allowed_tools: [flag] },
        'disallowed_tools.1': { disallowed_tools: ['Read', flag] },
        'add_dirs.0': { add_dirs: [flag] },
        mcp_config: { mcp_config: flag },
        permission_mode: { permission_mode: flag },
        max_turns: { max_turns: flag },
        max_budget_usd: { max_budget_usd: flag },
        timeout_ms: { timeout_ms: flag },
      })) {
        expect(() => plan(run)).toThrow(
          expect.objectContaining({
            code: 'agent.options_invalid',
            message: expect.stringContaining(field) as string,
            details: { fields: [field] },
          }) as Error,
        );
      }
    }
  });

  it('AGT-10 passes free text on as it is, dashes included', () => {
    for (const text of ['-', '--debug', '- be brief', '--model=x']) {
      expect(toSdkOptions(plan({ append_system_prompt: text })).extraArgs).toEqual({ 'append-system-prompt': text });
    }
  });

  it('AGT-10 makes a path of mcp_config absolute, inside the workspace', () => {
    const path = (config: string, cwd = '/workspace') => plan({ mcp_config: config }, { cwd }).options.mcp_config;
    expect(path('./--evil')).toBe('/workspace/--evil');
    expect(path(' --evil')).toBe('/workspace/ --evil');
    expect(path('conf/mcp.json', '/workspace/app')).toBe('/workspace/app/conf/mcp.json');
    for (const outside of ['../x.json', '/etc/passwd', '/workspacex/a']) {
      expect(() => path(outside)).toThrow(expect.objectContaining({ code: 'agent.options_invalid' }) as Error);
    }
    expect(() => path('{"mcpServers": oops}')).toThrow(
      expect.objectContaining({ code: 'agent.options_invalid' }) as Error,
    );
  });

  it('AGT-10 refuses what is too long for an argument', () => {
    const fits = 'ä'.repeat(63 * 1024);
    expect(plan({ append_system_prompt: fits }).options.append_system_prompt).toBe(fits);
    expect(() => plan({ append_system_prompt: '€'.repeat(60 * 1024) })).toThrow(
      expect.objectContaining({
        code: 'agent.options_invalid',
        details: { fields: ['append_system_prompt'] },
      }) as Error,
    );
  });

  it('AGT-10 refuses options that it does not know', () => {
    expect(() => plan({ shell: 'x' })).toThrow(expect.objectContaining({ code: 'agent.options_invalid' }) as Error);
  });
});

describe('the fingerprint', () => {
  it('AGT-11 does not change with what a live process can change, or with the order of keys', () => {
    const base = { max_turns: 5, allowed_tools: ['Read'] };
    const same = [
      { ...base, model: 'sonnet' },
      { ...base, permission_mode: 'acceptEdits' },
      { allowed_tools: ['Read'], max_turns: 5, timeout_ms: 5000 },
    ];
    for (const options of same) expect(plan(options).fingerprint).toBe(plan(base).fingerprint);
  });

  it('AGT-11 changes with everything else', () => {
    const variants = [
      {},
      { dangerously_skip_permissions: true },
      { allowed_tools: ['Read'] },
      { disallowed_tools: ['Read'] },
      { mcp_config: '{}' },
      { append_system_prompt: 'x' },
      { fallback_model: 'haiku' },
      { add_dirs: ['/a'] },
      { strict_mcp_config: true },
      { max_turns: 1 },
      { permission_mode: 'bypassPermissions' },
    ];
    const prints = variants.map((options) => plan(options).fingerprint);
    prints.push(plan({}, { cwd: '/workspace/a' }).fingerprint, planClaude(wishes({}), 'v2').fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
  });

  it('AGT-12 gives a run with a budget a process of its own', () => {
    expect(plan({ max_budget_usd: 1 }).reusable).toBe(false);
    expect(plan({ max_turns: 1 }).reusable).toBe(true);
  });

  it('AGT-11 is the same for the same options, always', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[A-Z][a-z]{1,8}$/), { maxLength: 5 }), (tools) => {
        expect(plan({ allowed_tools: tools }).fingerprint).toBe(plan({ allowed_tools: [...tools] }).fingerprint);
      }),
    );
  });
});
