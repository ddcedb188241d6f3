// Logs that services write to while they are rotated.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rotateIfLarge, withLogFile } from './service-log.ts';

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-log-'));
  log = join(folder, 'gateway.log');
});
afterEach(() => rmSync(folder, { recursive: true }));
const text = (path: string): string => readFileSync(path, 'utf8');

describe('a log', () => {
  it('OPS-17 moves on when it is too large, while its writer keeps it open', () => {
    withLogFile(log, (descriptor) => {
      writeSync(descriptor, 'before\n');
      expect(rotateIfLarge(log, 3)).toBe(true);
      writeSync(descriptor, 'after\n');
    });
    expect([text(`${log}.1`), text(log)]).toEqual(['before\n', 'after\n']);
  });

  it('OPS-17 keeps three older ones and no more', () => {
    for (const line of ['1', '2', '3', '4', '5']) {
      appendFileSync(log, line.repeat(10));
      rotateIfLarge(log, 5);
    }
    expect([1, 2, 3].map((age) => text(`${log}.${age}`)[0])).toEqual(['5', '4', '3']);
    expect(existsSync(`${log}.4`)).toBe(false);
  });

  it('OPS-17 stays when it is small or not there, and is private', () => {
    expect(rotateIfLarge(log, 5)).toBe(false);
    withLogFile(log, (descriptor) => writeSync(descriptor, '12345'));
    expect(rotateIfLarge(log, 5)).toBe(false);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });
});
