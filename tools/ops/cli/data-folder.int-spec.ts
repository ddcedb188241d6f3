// A data folder that cannot be one: what the commands say, by the command line.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';

const NOBODY = 65_534;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-data-folder-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'file'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

function gantry(dataDir: string, command: string, user: { uid?: number; gid?: number } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'gantry.ts'), command], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder, GANTRY_DATA_DIR: dataDir },
    ...user,
  });
  return { code: status, stdout, stderr };
}

const refusal = (step: string, reason: string): RegExp =>
  new RegExp(`^✗ ${step} failed after .*\\n  Reason: The data folder .*${reason}.*\\n  Next:   .*GANTRY_DATA_DIR.*\\n$`);

describe('a data folder', () => {
  it.each(['up', 'down', 'status', 'logs', 'reset'])('OPS-33 that is a file: %s says so', (command) => {
    const { code, stdout, stderr } = gantry(join(folder, 'file'), command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(refusal('Configuration', 'is a file'));
  });

  it('OPS-33 below a file: up says so', () => {
    const { code, stderr } = gantry(join(folder, 'file', 'data'), 'up');
    expect(code).toBe(1);
    expect(stderr).toMatch(refusal('Configuration|Data folder', 'a part of its path is a file'));
  });

  it('OPS-33 that cannot be made: up says so', () => {
    const { code, stderr } = gantry('/proc/gantry/data', 'up');
    expect(code).toBe(1);
    expect(stderr).toMatch(refusal('Data folder', 'cannot be made there'));
  });

  it('OPS-33 that the user may not write: down says so', () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const { code, stderr } = gantry(dataDir, 'down', { uid: NOBODY, gid: NOBODY });
    expect(code).toBe(1);
    expect(stderr).toMatch(refusal('Data folder', 'you may not write there'));
  });
});
