// Reading logs that grow, are cut and come anew.
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GrowingFile, logs } from './logs.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gantry-logs-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('following logs', () => {
  it('OPS-27 gives whole lines, once, also over a rotation and a character cut in two', () => {
    const path = join(folder, 'gateway.log');
    writeFileSync(path, 'one\ntwo\n');
    const file = new GrowingFile(path);
    expect(file.lastLines(1)).toEqual(['two']);
    const euro = Buffer.from('€\n');
    appendFileSync(path, euro.subarray(0, 2));
    expect(file.newLines()).toEqual([]);
    appendFileSync(path, euro.subarray(2));
    expect(file.newLines()).toEqual(['€']);
    truncateSync(path);
    appendFileSync(path, 'x\n');
    expect(file.newLines()).toEqual(['x']);
  });

  it('OPS-27 begins with whole lines of a long log', () => {
    const path = join(folder, 'gateway.log');
    writeFileSync(path, `${'y'.repeat(9_000)}\n`.repeat(10));
    const lines = new GrowingFile(path).lastLines(50);
    expect(lines).toHaveLength(7);
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([9_000]));
  });

  it('OPS-27 follows every log, new ones too, each line with its name', async () => {
    writeFileSync(join(folder, 'worker.log'), 'old\n');
    const stop = new AbortController();
    const seen: string[] = [];
    const write = (text: string): void => {
      seen.push(text);
      if (seen.length === 1) appendFileSync(join(folder, 'worker.log'), 'new\n');
      if (seen.length === 2) writeFileSync(join(folder, 'broker.log'), 'first\n');
      if (seen.length === 3) stop.abort();
    };
    await logs(folder, { service: undefined, lines: 5, follow: true }, write, stop.signal);
    expect(seen).toEqual(['worker | old\n', 'worker | new\n', 'broker | first\n']);
  });

  it('OPS-27 makes lines readable when asked to, each with its name', async () => {
    writeFileSync(join(folder, 'worker.log'), 'one;two\n');
    const seen: string[] = [];
    const options = { service: undefined, lines: 5, follow: false, readable: (line: string) => line.split(';') };
    await logs(folder, options, (text) => seen.push(text), AbortSignal.abort());
    expect(seen).toEqual(['worker | one\n', 'worker | two\n']);
  });

  it('OPS-27 names the logs there are when the wanted one is not', async () => {
    writeFileSync(join(folder, 'worker.log'), '');
    const wrong = logs(folder, { service: 'x', lines: 1, follow: false }, () => undefined, AbortSignal.abort());
    await expect(wrong).rejects.toHaveProperty('next', 'Logs: worker.');
  });
});
