// The first program of every make target, in a checkout of its own with an npm and a node that only say that they were called.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';

let folder: string;
const at = (...parts: string[]): string => join(folder, ...parts);

function script(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

type Packages = Record<string, { version?: string; optional?: boolean; link?: boolean }>;
const writeLock = (path: string, packages: Packages): void => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, JSON.stringify({ packages }));
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-bootstrap-'));
  mkdirSync(at('tools'));
  copyFileSync(join(checkout, 'tools', 'bootstrap.mjs'), at('tools', 'bootstrap.mjs'));
  script(at('bin', 'npm'), `echo "$@" >> ${at('npm-calls')}`);
  script(at('node_modules', '.bin', 'node'), 'echo "went on with $2"; exit 7');
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (...nodeArguments: string[]) =>
  spawnSync(process.execPath, [...nodeArguments, at('tools', 'bootstrap.mjs'), 'status'], {
    encoding: 'utf8',
    env: { PATH: `${at('bin')}:/usr/bin:/bin` },
  });
const npmWasCalled = (): boolean => existsSync(at('npm-calls'));

const LOCK: Packages = {
  '': { version: '1.0.0' },
  'node_modules/a': { version: '1.0.0' },
  'node_modules/for-another-platform': { version: '1.0.0', optional: true },
  'node_modules/ours': { link: true },
  'tools/ours': { version: '0.0.0' },
};

describe('the bootstrap', () => {
  beforeEach(() => writeLock(at('package-lock.json'), LOCK));

  it('OPS-22 installs nothing when node_modules has what the lock file names, and goes on with its exit code', () => {
    writeLock(at('node_modules', '.package-lock.json'), { 'node_modules/a': { version: '1.0.0' } });
    const { status, stdout } = run();
    expect(stdout).toBe('went on with status\n');
    expect(status).toBe(7);
    expect(npmWasCalled()).toBe(false);
  });

  it.each([
    ['is missing', {}],
    ['has another version', { 'node_modules/a': { version: '0.9.0' } }],
  ])('OPS-22 runs npm ci when a package %s', (_what, installed) => {
    writeLock(at('node_modules', '.package-lock.json'), installed);
    expect(run().stderr).toContain('node_modules/a');
    expect(readFileSync(at('npm-calls'), 'utf8')).toMatch(/^ci /);
  });

  it('OPS-22 names what to do when npm ci fails, and does not go on', () => {
    rmSync(at('node_modules'), { recursive: true });
    script(at('bin', 'npm'), 'exit 3');
    const { status, stdout, stderr } = run();
    expect(stdout).toBe('');
    expect(stderr).toMatch(/npm ci ended with code 3\.\n {2}Next: /);
    expect(status).toBe(1);
  });

  it.each([
    ['version', { node: '20.18.9' }, 'Node 20.18.9 is too old'],
    ['platform', 'darwin', 'Gantry runs on Linux'],
    ['arch', 'ia32', 'There are no programs for ia32'],
  ])('OPS-21 tells a machine with another %s what it needs', (property, value, message) => {
    const key = property === 'version' ? 'versions' : property;
    const preload = at('preload.cjs');
    const described = property === 'version' ? { ...process.versions, ...(value as object) } : value;
    writeFileSync(preload, `Object.defineProperty(process, '${key}', { value: ${JSON.stringify(described)} });`);
    const { status, stderr } = run('--require', preload);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Next: ');
    expect(status).toBe(1);
    expect(npmWasCalled()).toBe(false);
  });
});
