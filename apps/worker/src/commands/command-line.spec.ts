import { spawnSync } from 'node:child_process';
import { newId, toAppError } from '#kernel';
import { commandArgv, commandDirectory, commandEnvironment } from './command-line.js';

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return toAppError(error).code;
  }
  return 'accepted';
};

describe('the command line', () => {
  it('ENG-31 passes words as they are, and a shell string as one argument', () => {
    const argv = ['echo', '-n', '$HOME; rm -rf /', ''];
    expect(commandArgv({ argv, shellCommand: null })).toEqual(argv);
    expect(commandArgv({ argv: [], shellCommand: '-c "x"; y' })).toEqual(['/bin/sh', '-c', '--', '-c "x"; y']);
  });

  it.each(['/bin/sh', '/bin/bash'])('ENG-31 gives %s a shell string that begins with a dash', (shell) => {
    const [, ...words] = commandArgv({ argv: [], shellCommand: '-nothing-of-that-name; echo "$0 $#"' });
    const { stdout, stderr } = spawnSync(shell, words, { encoding: 'utf8' });
    expect(stdout).toBe(`${shell} 0\n`);
    expect(stderr).toContain('-nothing-of-that-name: ');
    expect(stderr).toContain('not found');
  });

  it.each([[[]], [['']], [['echo', 'a\0b']]])('ENG-31 refuses %p', (argv) => {
    expect(refusal(() => commandArgv({ argv, shellCommand: null }))).toBe('command.invalid');
  });

  it('ENG-31 refuses a NUL byte in a shell string', () => {
    expect(refusal(() => commandArgv({ argv: [], shellCommand: 'echo a\0b' }))).toBe('command.invalid');
  });

  it('ENG-31 gives a closed list of variables and nothing of its own environment', () => {
    const run = { runId: newId(), projectId: newId() };
    expect(commandEnvironment(run)).toEqual({
      TERM: 'dumb',
      GANTRY_RUN_ID: run.runId,
      GANTRY_PROJECT_ID: run.projectId,
    });
  });

  it('ENG-31 works in the workspace unless told otherwise', () => {
    expect(commandDirectory({ workingDir: null })).toBe('/workspace');
    expect(commandDirectory({ workingDir: '/workspace/sub' })).toBe('/workspace/sub');
  });
});
