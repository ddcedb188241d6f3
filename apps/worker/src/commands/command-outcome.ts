// How a command's exit becomes the end of its run. A failing command is a result, not an error of ours.
import type { EventDraft, ProcessExit, RunOutcome, RunRecord } from '#domain';
import { AppError } from '#kernel';
import { type EndingReason, failedOutcome, interruptedOutcome, stoppedOutcome } from '../runs/run-outcomes.js';

export interface CommandEnd {
  run: RunRecord;
  exit: ProcessExit;
  /** Somebody asked it to end. */
  interrupted: boolean;
  /** Why it was stopped, if it was. */
  stopped: EndingReason | undefined;
  activeMs: number;
  /** From start to exit of the process, ms. */
  durationMs: number;
  /** Bytes of output, both channels. */
  endOffset: number;
}

export function commandOutcome(end: CommandEnd): RunOutcome {
  const { exit, endOffset } = end;
  return {
    ...statusOf(end),
    ...(exit.code === null ? {} : { exitCode: exit.code }),
    ...(exit.signal === null ? {} : { exitSignal: exit.signal }),
    endOffset,
    events: [commandFinished(end)],
  };
}

function statusOf({ run, exit, stopped, interrupted, activeMs }: CommandEnd): RunOutcome {
  if (stopped !== undefined) return stoppedOutcome(stopped, run, activeMs);
  if (interrupted && diedOfInterrupt(exit)) return interruptedOutcome(activeMs);
  if (exit.spawnError !== undefined) return failedOutcome(spawnFailure(exit.spawnError, exit.spawnErrorAt), activeMs);
  if (exit.lost === true) return failedOutcome(sandboxLost(), activeMs);
  if (exit.outOfMemory) {
    const error = new AppError(
      'sandbox.out_of_memory',
      'The sandbox ran out of memory and the kernel ended the command.',
    );
    return failedOutcome(error, activeMs);
  }
  return { status: exit.code === 0 ? 'succeeded' : 'failed', activeMs };
}

/** By the signal itself, or as a shell tells that its child did: 128 + 2. */
export const diedOfInterrupt = ({ code, signal }: ProcessExit): boolean => signal === 'SIGINT' || code === 130;

export const sandboxLost = (): AppError =>
  new AppError('sandbox.lost', 'The sandbox went away while the command was running.');

/** `errno`: name of the system's error, e.g. ENOENT. */
function spawnFailure(errno: string, at: ProcessExit['spawnErrorAt']): AppError {
  const details = { errno };
  if (at === 'cwd') {
    return new AppError('command.working_directory', 'The working directory cannot be entered.', { details });
  }
  if (errno === 'ENOENT') {
    return new AppError('command.not_found', 'There is no such program in the sandbox.', { details });
  }
  return new AppError('command.spawn_failed', `The command could not be started (${errno}).`, { details });
}

function commandFinished({ run, exit, durationMs, endOffset }: CommandEnd): EventDraft {
  return {
    type: 'command.finished',
    runId: run.runId,
    payload: {
      ...(exit.code === null ? {} : { exit_code: exit.code }),
      ...(exit.signal === null ? {} : { exit_signal: exit.signal }),
      duration_ms: durationMs,
      end_offset: endOffset,
    },
  };
}
