// Help, wrong use and exit codes, as a user meets them: the program itself.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';

const run = (...args: string[]) => runWith({}, ...args);
const runWith = (env: Record<string, string>, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'gantry.ts'), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  });
  return { status, stdout, stderr };
};

describe('the command line', () => {
  it('OPS-21 lists every command on --help', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    for (const name of ['up', 'down', 'restart', 'reset', 'logs', 'status', 'test-env', 'test']) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
  });

  it('OPS-21 explains one command', () => {
    const { status, stdout } = run('logs', '--help');
    expect(status).toBe(0);
    expect(stdout).toContain('--service <name>');
    expect(stdout).toContain('--raw');
  });

  it('OPS-2, CFG-1 names every wrong option of every service before anything is started', () => {
    const wrong = { GATEWAY_PORT: 'x', SANDBOX_PIDS: '1', GANTRY_MODEL_BASE_URL: 'ftp://x', GANTRY_TYPO: '1' };
    const { status, stderr } = runWith(wrong, 'status');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^✗ Configuration failed/);
    for (const option of Object.keys(wrong)) expect(stderr).toContain(option);
    expect(stderr).not.toContain('ftp://x');
  });

  it('OPS-19 reset without a terminal names the command that deletes without being asked', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-command-line-'));
    try {
      const { status, stderr } = runWith({ GANTRY_DATA_DIR: join(folder, 'data') }, 'reset');
      expect(status).toBe(1);
      expect(stderr).toMatch(/Next: +To delete without being asked: make reset YES=1/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([[['fly']], [[]], [['toString']], [['up', '--loud']], [['up', 'extra']]])(
    'OPS-21 answers %j with help and exit code 2, and does nothing',
    (args) => {
      const { status, stdout, stderr } = run(...args);
      expect(status).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toContain('Usage:');
    },
  );
});
