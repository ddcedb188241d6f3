// Every end of an agent without an answer has its own code.
import type { ProcessExit } from '#domain';
import { deadOutcome, resultOutcome } from './agent-outcome.js';

const exit = (more: Partial<ProcessExit>): ProcessExit => ({ code: null, signal: null, outOfMemory: false, ...more });
const dead = (more: Partial<ProcessExit>, facts: { stderr?: string; halfLine?: boolean } = {}) =>
  deadOutcome({ exit: exit(more), stderr: facts.stderr ?? '', halfLine: facts.halfLine ?? false, activeMs: 5 });

describe('deadOutcome', () => {
  it.each([
    [{ spawnError: 'ENOENT', spawnErrorAt: 'program' }, 'agent.not_installed'],
    [{ spawnError: 'ENOENT', spawnErrorAt: 'cwd' }, 'command.working_directory'],
    [{ spawnError: 'EACCES', spawnErrorAt: 'program' }, 'agent.not_installed'],
    [{ spawnError: 'EIO', spawnErrorAt: 'program' }, 'agent.crashed'],
    [{ code: 1 }, 'agent.crashed'],
    [{ code: 0 }, 'agent.crashed'],
    [{ signal: 'SIGSEGV' }, 'agent.crashed'],
    [{ signal: 'SIGKILL', outOfMemory: true }, 'sandbox.out_of_memory'],
    [{ lost: true }, 'sandbox.lost'],
  ] as const)('AGT-17 says of %j that it was %s', (how, code) => {
    expect(dead(how)).toMatchObject({ status: 'failed', error: { code }, sessionStatus: 'crashed' });
  });

  it('AGT-10 says of one that refused an option which it was', () => {
    const facts = { exit: exit({ code: 1 }), stderr: 'Error: why', halfLine: false, activeMs: 5 };
    expect(deadOutcome({ ...facts, refusedOptions: ['mcp_config'] })).toMatchObject({
      error: {
        code: 'agent.options_invalid',
        message: 'The agent does not start with this mcp_config.',
        details: { fields: ['mcp_config'], stderr: 'Error: why' },
      },
    });
  });

  it('AGT-17 shows the end of stderr, the exit code, and a message that was cut', () => {
    expect(dead({ code: 1 }, { stderr: 'Error: boom', halfLine: true })).toMatchObject({
      exitCode: 1,
      error: {
        message: 'The agent ended with exit code 1 in the middle of a message.',
        details: { exit_code: 1, stderr: 'Error: boom', unfinished_line: true },
      },
    });
  });
});

describe('resultOutcome', () => {
  const result = { processContinues: true, totalCostUsd: 1, payload: {} };
  const facts = { costUsd: 0.25, activeMs: 9 };

  it('AGT-16 succeeds with the answer, usage and the cost of this run', () => {
    expect(resultOutcome({ ...result, text: 'hi', usage: { input_tokens: 1 } }, facts)).toEqual({
      status: 'succeeded',
      sessionStatus: 'completed',
      resultText: 'hi',
      usage: { input_tokens: 1 },
      costUsd: 0.25,
      activeMs: 9,
    });
  });

  it('AGT-14 lets a conversation that was lost not be resumed, and any other go on', () => {
    const failed = (code: 'agent.conversation_lost' | 'agent.model_error') =>
      resultOutcome({ ...result, error: { code, message: 'm' } }, facts).sessionStatus;
    expect(failed('agent.conversation_lost')).toBe('failed');
    expect(failed('agent.model_error')).toBe('completed');
  });
});
