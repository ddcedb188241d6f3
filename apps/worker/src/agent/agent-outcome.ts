// How an agent's run ended, in the words of the run: by the agent's result, or by the end of its process without one.
import type { ProcessExit, RunOutcome } from '#domain';
import type { ErrorCode, SessionStatus } from '#kernel';
import type { AgentResult } from './agent-driver.port.js';

export interface DeadAgent {
  exit: ProcessExit;
  /** The masked end of stderr. */
  stderr: string;
  /** It died in the middle of a line. */
  halfLine: boolean;
  /** Options that it would not start with. */
  refusedOptions?: string[];
  activeMs: number;
}

export function resultOutcome(result: AgentResult, facts: { costUsd: number; activeMs: number }): RunOutcome {
  const used = { costUsd: facts.costUsd, ...(result.usage === undefined ? {} : { usage: result.usage }) };
  if (result.error === undefined) {
    return {
      status: 'succeeded',
      sessionStatus: 'completed',
      resultText: result.text ?? '',
      activeMs: facts.activeMs,
      ...used,
    };
  }
  if (result.error.code === 'run.interrupted') {
    return { status: 'interrupted', error: result.error, sessionStatus: 'paused', activeMs: facts.activeMs, ...used };
  }
  return {
    status: 'failed',
    error: result.error,
    // A conversation that the agent lost cannot be resumed; after any other failure the next prompt goes on with it.
    sessionStatus: result.error.code === 'agent.conversation_lost' ? 'failed' : 'completed',
    activeMs: facts.activeMs,
    ...used,
  };
}

/** The process ended, or never began, and the prompt has no answer. */
export function deadOutcome(dead: DeadAgent): RunOutcome {
  const { exit, activeMs } = dead;
  const { code, message } = causeOfDeath(dead);
  const details = {
    ...(exit.code === null ? {} : { exit_code: exit.code }),
    ...(exit.signal === null ? {} : { exit_signal: exit.signal }),
    ...(exit.spawnError === undefined ? {} : { reason: exit.spawnError }),
    ...(dead.refusedOptions?.length ? { fields: dead.refusedOptions } : {}),
    ...(dead.halfLine ? { unfinished_line: true } : {}),
    ...(dead.stderr === '' ? {} : { stderr: dead.stderr }),
  };
  const sessionStatus: SessionStatus = 'crashed';
  return {
    status: 'failed',
    error: { code, message, ...(Object.keys(details).length === 0 ? {} : { details }) },
    ...(exit.code === null ? {} : { exitCode: exit.code }),
    ...(exit.signal === null ? {} : { exitSignal: exit.signal }),
    sessionStatus,
    activeMs,
  };
}

function causeOfDeath({ exit, halfLine, refusedOptions = [] }: DeadAgent): { code: ErrorCode; message: string } {
  if (exit.lost === true)
    return { code: 'sandbox.lost', message: 'The sandbox went away while the agent was working.' };
  if (exit.spawnErrorAt === 'cwd') {
    return { code: 'command.working_directory', message: 'The working directory cannot be entered.' };
  }
  if (exit.spawnError === 'ENOENT' || exit.spawnError === 'EACCES') {
    return { code: 'agent.not_installed', message: 'The agent program is not installed in this sandbox.' };
  }
  if (exit.spawnError !== undefined) {
    return { code: 'agent.crashed', message: `The agent program could not be started: ${exit.spawnError}.` };
  }
  if (exit.outOfMemory) {
    return { code: 'sandbox.out_of_memory', message: 'The sandbox ran out of memory and the agent was stopped.' };
  }
  if (refusedOptions.length > 0) {
    return {
      code: 'agent.options_invalid',
      message: `The agent does not start with this ${refusedOptions.join(', ')}.`,
    };
  }
  const how = exit.signal === null ? `with exit code ${exit.code ?? 'unknown'}` : `by ${exit.signal}`;
  const where = halfLine ? 'in the middle of a message' : 'without an answer';
  return { code: 'agent.crashed', message: `The agent ended ${how} ${where}.` };
}
