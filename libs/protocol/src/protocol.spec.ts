// The wire refuses what it must refuse.
import { EVENT_TYPES } from '#kernel';
import { CLIENT_EVENTS, claudeOptions, EVENT_PAYLOADS, handshake } from './index.js';

const project_id = '0190f3a4-0000-7000-8000-000000000000';

it('PROTO-1 refuses unknown keys in every command', () => {
  for (const [name, event] of Object.entries(CLIENT_EVENTS)) {
    const parsed = event.request.safeParse({ surprise: true });
    expect([name, parsed.success]).toEqual([name, false]);
    expect(JSON.stringify(parsed.error?.issues)).toContain('unrecognized_keys');
  }
});

it('PROTO-2 refuses option values that look like flags', () => {
  for (const options of [
    { model: '--dangerously-skip-permissions' },
    { fallback_model: '-x' },
    { allowed_tools: ['Bash', '--permission-mode'] },
    { add_dirs: ['--mcp-config'] },
    { mcp_config: '--debug' },
    { mcp_config: '' },
  ]) {
    expect(claudeOptions.safeParse(options).success).toBe(false);
  }
});

it('PROTO-3 refuses a NUL byte in prompts and commands', () => {
  expect(CLIENT_EVENTS.execute.request.safeParse({ project_id, prompt: 'a\0b' }).success).toBe(false);
  expect(CLIENT_EVENTS.execute_command.request.safeParse({ project_id, command: ['a\0'] }).success).toBe(false);
  expect(CLIENT_EVENTS.execute_command.request.safeParse({ project_id, command: 'a\0' }).success).toBe(false);
});

it('PROTO-7 refuses, rather than changes, text that cannot be passed on, at any depth', () => {
  const answer = (updated_input: unknown) =>
    CLIENT_EVENTS.permission_respond.request.safeParse({
      request_id: project_id,
      input_hash: 'h',
      behavior: 'allow',
      updated_input,
    }).success;
  let deep: Record<string, unknown> = {};
  for (let depth = 0; depth < 3500; depth += 1) deep = { deep };
  expect(answer({ command: 'ls', nested: [{ a: 1 }] })).toBe(true);
  for (const bad of [{ command: 'a\0b' }, { 'a\0': 1 }, { nested: [{ text: '\ud800' }] }, deep]) {
    expect(answer(bad)).toBe(false);
  }
  const command = (text: string) =>
    CLIENT_EVENTS.execute_command.request.safeParse({ project_id, command: [text] }).success;
  expect([command('\ud800'), command('\ud83d\ude00')]).toEqual([false, true]);
  const create = (fields: object) => CLIENT_EVENTS.project_create.request.safeParse({ path: '/a', ...fields }).success;
  expect([create({ name: 'a\0' }), create({ image: '--privileged' }), create({ image: 'debian:bookworm' })]).toEqual([
    false,
    false,
    true,
  ]);
});

it('PROTO-4 bounds a prompt by bytes, not characters', () => {
  const request = (prompt: string) => CLIENT_EVENTS.execute.request.safeParse({ project_id, prompt }).success;
  expect(request('é'.repeat(256 * 1024))).toBe(true);
  expect(request('é'.repeat(256 * 1024 + 1))).toBe(false);
  expect(request('')).toBe(false);
});

it('PROTO-5 describes a payload for known event types only', () => {
  expect(Object.keys(EVENT_PAYLOADS).filter((type) => !(EVENT_TYPES as readonly string[]).includes(type))).toEqual([]);
});

it('PROTO-6 parses a handshake and its bounds', () => {
  expect(handshake.safeParse({ token: 't', protocol: 1 }).success).toBe(true);
  expect(handshake.safeParse({ token: 't', protocol: 1, max_message_kb: 49 }).success).toBe(false);
  expect(handshake.safeParse({ token: '', protocol: 1 }).success).toBe(false);
});
