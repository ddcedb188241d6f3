// The environment and the program of a job.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jobEnvironment, unusableName } from './job-environment.js';
import { executableProblem } from './job-user.js';

/** This process's own user, so that no id needs to change. */
const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, name: 'agent', home: '/home/agent' };

describe('the environment of a job', () => {
  it('SBX-18 is what the image sets, then what the sandbox decides, then what was asked for', () => {
    const image = {
      ...{ LANG: 'de_DE.UTF-8', GOPATH: '/go', PATH: '/go/bin', HOME: '/root', SANDBOXD_UID: '1', NODE_OPTIONS: '' },
      ...{ 'not-a-name': 'x', LD_PRELOAD: '', absent: undefined },
    };
    expect(jobEnvironment(image, user, { FOO: 'bar', HOME: '/tmp' })).toEqual({
      ...{ LANG: 'de_DE.UTF-8', GOPATH: '/go', USER: 'agent', LOGNAME: 'agent', FOO: 'bar', HOME: '/tmp' },
      PATH: '/opt/gantry/bin:/usr/local/bin:/usr/bin:/bin',
    });
    expect(jobEnvironment({}, user, {})).toMatchObject({ LANG: 'C.UTF-8', HOME: '/home/agent' });
  });

  it('SBX-21 is refused when a name could not be passed on', () => {
    expect(unusableName({ A: '1', _b2: '' })).toBeUndefined();
    for (const name of ['', 'a-b', '1a', 'a=b', 'ä']) expect(unusableName({ [name]: 'x' })).toBe(name);
    expect(unusableName({ A: 'nul\0' })).toBe('A');
  });
});

describe('the program of a job', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-programs-'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'tool'), '', { mode: 0o755 });
    writeFileSync(join(folder, 'bin', 'data'), '', { mode: 0o644 });
    symlinkSync('bin/tool', join(folder, 'link'));
    symlinkSync('nowhere', join(folder, 'broken'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const problem = (program: string, path = `${folder}/none:${folder}/bin`): string | null =>
    executableProblem(user, program, folder, path);

  it('SBX-21 is found on the PATH, relative to its folder, or by its full name', () => {
    for (const program of ['tool', './link', 'bin/tool', join(folder, 'bin/tool')]) expect(problem(program)).toBeNull();
    expect(problem('tool', 'bin')).toBeNull();
  });

  it('SBX-21 that is not there, or that nobody may execute, is told apart', () => {
    for (const program of ['absent', './broken', './absent', 'bin/tool/x', '']) expect(problem(program)).toBe('ENOENT');
    for (const program of ['data', './bin/data', './bin']) expect(problem(program)).toBe('EACCES');
  });

  it('SBX-21 is judged by the bits that are meant for the user', () => {
    chmodSync(join(folder, 'bin', 'tool'), 0o655);
    expect(problem('tool')).toBe('EACCES');
    chmodSync(join(folder, 'bin', 'tool'), 0o700);
    expect(problem('tool')).toBeNull();
  });
});
