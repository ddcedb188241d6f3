// Logs that services write to while they are rotated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
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
      expect(rotateIfLarge(log, { maxBytes: 6, files: 2 })).toBe(true);
      writeSync(descriptor, 'after\n');
    });
    expect([text(`${log}.1`), text(log)]).toEqual(['before\n', 'after\n']);
  });

  it('OPS-17 keeps as many older ones as it is told, and no more', () => {
    const rotate = (line: string, files: number): void => {
      appendFileSync(log, `${line}\n`.repeat(10));
      rotateIfLarge(log, { maxBytes: 19, files });
    };
    for (const line of ['1', '2', '3', '4', '5']) rotate(line, 4);
    expect([1, 2, 3].map((age) => text(`${log}.${age}`)[0])).toEqual(['5', '4', '3']);
    expect(existsSync(`${log}.4`)).toBe(false);
    rotate('6', 2); // the limit was lowered
    expect(readdirSync(folder).sort()).toEqual(['gateway.log', 'gateway.log.1']);
    expect(text(`${log}.1`)[0]).toBe('6');
  });

  it('OPS-17 keeps whole lines of the end when it outgrew twice the limit before anybody looked', () => {
    writeFileSync(log, Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`).join(''));
    rotateIfLarge(log, { maxBytes: 150_000, files: 2 });
    const kept = text(`${log}.1`);
    expect(kept.length).toBeGreaterThan(299_000);
    expect(kept.length).toBeLessThanOrEqual(300_000);
    expect(kept).toMatch(/^line \d+\n/);
    expect(kept.endsWith('line 99999\n')).toBe(true);
  });

  it('OPS-17 stays when it is small or not there, and is private, as older ones are', () => {
    expect(rotateIfLarge(log, { maxBytes: 5, files: 2 })).toBe(false);
    withLogFile(log, (descriptor) => writeSync(descriptor, '12345'));
    expect(rotateIfLarge(log, { maxBytes: 5, files: 2 })).toBe(false);
    rotateIfLarge(log, { maxBytes: 4, files: 2 });
    expect([log, `${log}.1`].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('OPS-17 does not grow on when older ones cannot be kept', () => {
    writeFileSync(log, 'x'.repeat(100));
    writeFileSync(`${log}.1`, 'older');
    mkdirSync(join(`${log}.2`, 'in the way'), { recursive: true });
    expect(() => rotateIfLarge(log, { maxBytes: 10, files: 3 })).toThrow();
    expect(text(log)).toBe('');
  });

  it('OPS-17 under a busy writer, every line that is kept is whole and in order, and the disk is bounded', async () => {
    const script =
      "for (let n = 0; n < 60_000; n++) require('node:fs').writeSync(1, `line ${n} of a busy service\\n`);";
    const limits = { maxBytes: 100_000, files: 4 };
    const writer = withLogFile(log, (descriptor) =>
      spawn(process.execPath, ['-e', script], { stdio: ['ignore', descriptor, 'inherit'] }),
    );
    const ended = once(writer, 'exit');
    let rotations = 0;
    while (writer.exitCode === null) {
      if (rotateIfLarge(log, limits)) rotations += 1;
      await new Promise(setImmediate);
    }
    await ended;
    expect(rotations).toBeGreaterThan(limits.files);
    const files = [`${log}.3`, `${log}.2`, `${log}.1`, log];
    expect(readdirSync(folder)).toHaveLength(files.length);
    const numbers = files
      .flatMap((path) => text(path).split('\n').slice(0, -1))
      .map((line) => Number(/^line (\d+) of a busy service$/.exec(line)?.[1] ?? Number.NaN));
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
    expect(numbers.at(-1)).toBe(59_999);
    const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(2 * limits.maxBytes * limits.files);
  });
});
