// How runs end that have no answer: failures of the model, of the program, of people's patience.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#testing';
import { createAgentFixture, textOf, type AgentFixture } from './agent-fixture.js';

let fixture: AgentFixture;

beforeAll(async () => {
  fixture = await createAgentFixture();
  await fixture.startWorker();
}, 120_000);
afterAll(() => fixture.close(), 60_000);

const said = async (projectId: string, runId: string): Promise<string> =>
  textOf(await fixture.messages(projectId, runId));

async function shell(projectId: string, script: string): Promise<string> {
  const { runId } = await fixture.command(projectId, { shell: script, lane: 'looking' });
  await fixture.ended(runId);
  return (await fixture.output(runId)).stdout;
}

/** Programs of the sandbox's user, but those of the command that looks. */
const leftovers = (projectId: string): Promise<string> =>
  shell(
    projectId,
    'for p in /proc/[0-9]*; do c=$(cat $p/comm 2>/dev/null); case $c in claude|sleep) echo $c;; esac; done',
  );

describe('a failure of the model', () => {
  it('AGT-16 ends the run with agent.model_error and its status; the next prompt goes on', async () => {
    const { projectId } = await fixture.newProject();
    const run = await fixture.ended((await fixture.prompt(projectId, 'demo:error 400')).runId, 60_000);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.model_error' });
    const finished = (await fixture.messages(projectId, run.runId)).find(({ type }) => type === 'run.finished');
    expect(finished?.payload['error']).toMatchObject({ code: 'agent.model_error', details: { status: 400 } });
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say better')).runId);
    expect(next).toMatchObject({ resultText: 'better', processId: run.processId });
  }, 90_000);

  it('AGT-16 that passes is only told: the CLI tries again', async () => {
    const { projectId } = await fixture.newProject();
    const run = await fixture.ended(
      (await fixture.prompt(projectId, 'demo:error 529 1\ndemo:say through')).runId,
      60_000,
    );
    expect(run).toMatchObject({ status: 'succeeded', resultText: 'through' });
    const subtypes = (await fixture.messages(projectId, run.runId)).map(({ payload }) => payload['subtype']);
    expect(subtypes).toContain('api_retry');
  }, 90_000);

  it('AGT-40 in the middle of a block is told while the answer is still to come, and leaves nothing half written', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:cut 1 60\ndemo:slow 120 40');
    const told = await until('the retry is told', async () => {
      const messages = await fixture.messages(projectId, runId);
      return messages.some(({ payload }) => payload['subtype'] === 'api_retry') ? messages : undefined;
    });
    expect(told.map(({ type }) => type)).not.toContain('message.assistant');
    expect(await fixture.ended(runId)).toMatchObject({ status: 'succeeded' });
    const answers = (await fixture.messages(projectId, runId)).filter(({ type }) => type === 'message.assistant');
    expect(answers).toHaveLength(1);
    expect(await said(projectId, runId)).toMatch(/^w0 w1 .* w119$/);
    expect(await fixture.bus.partials(projectId)).toEqual([]);
  }, 90_000);
});

describe('a run that is stopped', () => {
  it('AGT-35 in the middle of its answer keeps what was said, leaves nothing running, and is gone on with', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:slow 500 20');
    await until('it speaks', async () => (await fixture.bus.partials(projectId)).some(({ text }) => text.length > 40));
    await fixture.cancel(runId);
    const run = await fixture.ended(runId);
    expect(run).toMatchObject({ status: 'cancelled', errorCode: 'run.cancelled' });
    expect(await said(projectId, runId)).toMatch(/^w0 w1 w2 /);
    expect(await leftovers(projectId)).toBe('');
    expect(await fixture.bus.partials(projectId)).toEqual([]);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:echo')).runId);
    expect(next).toMatchObject({ status: 'succeeded', sessionId: run.sessionId });
    expect((JSON.parse(next.resultText ?? '') as { prompts: number }).prompts).toBeGreaterThan(1);
    expect(next.processId).not.toBe(run.processId);
  }, 60_000);

  it('AGT-35 takes tools and background commands with it', async () => {
    const { projectId } = await fixture.newProject();
    const options = { dangerously_skip_permissions: true };
    const background = JSON.stringify({ command: 'sleep 301', run_in_background: true, description: 'bg' });
    const prompt = `demo:tool Bash ${background}\ndemo:bash (setsid sleep 302 &) ; sleep 303`;
    const { runId } = await fixture.prompt(projectId, prompt, { options });
    await until('all sleep', async () => (await leftovers(projectId)).split('sleep').length > 3);
    await fixture.cancel(runId);
    expect(await fixture.ended(runId)).toMatchObject({ status: 'cancelled' });
    expect(await leftovers(projectId)).toBe('');
  }, 60_000);

  it('AGT-35 by its timeout says so', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:hang 3', { timeoutMs: 3_000 });
    const run = await fixture.ended(runId, 30_000);
    expect(run).toMatchObject({ status: 'timed_out', errorCode: 'run.timed_out' });
    expect(await leftovers(projectId)).toBe('');
  }, 60_000);

  it('AGT-6 before the agent answered anything can be followed by another prompt', async () => {
    const { projectId } = await fixture.newProject();
    const { runId } = await fixture.prompt(projectId, 'demo:hang');
    await fixture.model.waitForRequest(({ outcome }) => outcome === 'open');
    await fixture.cancel(runId);
    await fixture.ended(runId);
    const next = await fixture.ended((await fixture.prompt(projectId, 'demo:say hello')).runId);
    expect(next).toMatchObject({ status: 'succeeded', resultText: 'hello' });
  }, 60_000);
});

/** Runs one prompt with this script in place of the CLI. */
async function withProgram(
  script: string,
  env: Record<string, string> = {},
): Promise<{ run: Awaited<ReturnType<AgentFixture['ended']>>; error: unknown }> {
  const other = await createAgentFixture();
  try {
    const file = join(other.dataDir, 'claude');
    await writeFile(file, script);
    await chmod(file, 0o755);
    await other.startWorker({ SANDBOX_CLAUDE_FILE: file, ...env });
    const { projectId } = await other.newProject();
    const run = await other.ended((await other.prompt(projectId, 'hi')).runId, 60_000);
    const finished = (await other.messages(projectId, run.runId)).find(({ type }) => type === 'run.finished');
    const after = await other.command(projectId, { shell: 'echo the lane goes on' });
    expect((await other.ended(after.runId)).status).toBe('succeeded');
    return { run, error: finished?.payload['error'] };
  } finally {
    await other.close();
  }
}

describe('a CLI that fails', () => {
  it('AGT-41 by a message that does not fit into its spool ends the run instead of standing still', async () => {
    const event = (inner: object) =>
      JSON.stringify({ type: 'stream_event', session_id: 's', parent_tool_use_id: null, event: inner });
    const start = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    const delta = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '@' } });
    const [head, tail] = delta.split('@');
    const script = [
      '#!/bin/bash',
      `echo '${start}'`,
      'text=$(head -c 100000 /dev/zero | tr "\\0" x)',
      `while :; do printf '%s%s%s\\n' '${head}' "$text" '${tail}'; done`,
    ];
    const { run } = await withProgram(script.join('\n') + '\n', { SANDBOX_SPOOL_MB: '32' });
    expect(run).toMatchObject({ status: 'failed', errorCode: 'sandbox.spool_full' });
  }, 90_000);

  it('AGT-17 with an exit code is agent.crashed, with the end of its stderr, masked', async () => {
    const { run, error } = await withProgram(
      '#!/bin/sh\necho "Error: no luck with key $ANTHROPIC_API_KEY" >&2\nexit 3\n',
    );
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.crashed', exitCode: 3 });
    expect(error).toMatchObject({
      details: { exit_code: 3, stderr: expect.stringMatching(/no luck with key \*+$/) as string },
    });
  }, 90_000);

  it('AGT-17 in the middle of a line is agent.crashed', async () => {
    const { run, error } = await withProgram('#!/bin/sh\nprintf \'{"type":"assistant","mess\'\nexit 0\n');
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.crashed' });
    expect(error).toMatchObject({ details: { unfinished_line: true, exit_code: 0 } });
  }, 90_000);

  it('AGT-17 by going away without a word is agent.crashed', async () => {
    const { run } = await withProgram('#!/bin/sh\nread line\nexit 0\n');
    expect(run).toMatchObject({ status: 'failed', errorCode: 'agent.crashed' });
  }, 90_000);

  it('AGT-17 because it cannot be executed is agent.not_installed', async () => {
    const { run } = await withProgram('#!/no/such/interpreter\n');
    expect(run.status).toBe('failed');
    expect(run.errorCode).toMatch(/^agent\.(not_installed|crashed)$/);
  }, 90_000);
});
