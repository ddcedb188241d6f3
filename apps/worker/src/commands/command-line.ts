// What a command run starts, where, and with which environment.
import type { RunRecord } from '#domain';
import { AppError } from '#kernel';

export const WORKSPACE = '/workspace';

/**
 * What the supervisor's own PATH, HOME, USER and LANG do not have. A closed list: nothing of the worker's environment ever gets
 * into a sandbox.
 */
export const commandEnvironment = (run: Pick<RunRecord, 'runId' | 'projectId'>): Record<string, string> => ({
  TERM: 'dumb',
  GANTRY_RUN_ID: run.runId,
  GANTRY_PROJECT_ID: run.projectId,
});

/** argv as it was given, or a shell string as the one argument of `sh -c`; `--` because it may begin with a dash. Throws `command.invalid`. */
export function commandArgv(run: Pick<RunRecord, 'argv' | 'shellCommand'>): string[] {
  const argv = run.shellCommand === null ? run.argv : ['/bin/sh', '-c', '--', run.shellCommand];
  if (argv.length === 0 || argv[0] === '') throw new AppError('command.invalid', 'There is no command to run.');
  if (argv.some((word) => word.includes('\0'))) {
    throw new AppError('command.invalid', 'A command cannot contain a NUL byte.');
  }
  return argv;
}

export const commandDirectory = (run: Pick<RunRecord, 'workingDir'>): string => run.workingDir ?? WORKSPACE;
