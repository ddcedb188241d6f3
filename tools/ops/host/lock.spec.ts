// One command at a time.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.ts';
import { identify } from './process-identity.ts';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-lock-'));
  lock = join(folder, 'data.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lock of an instance', () => {
  it('OPS-24 lets one work at a time', async () => {
    let inside = 0;
    const work = async (): Promise<number> => {
      inside += 1;
      await new Promise(setImmediate);
      const seen = inside;
      inside -= 1;
      return seen;
    };
    const all = await Promise.all(Array.from({ length: 6 }, () => withLock(lock, 5_000, work)));
    expect(all).toEqual([1, 1, 1, 1, 1, 1]);
    expect(existsSync(lock)).toBe(false);
  });

  it('OPS-24 names a holder that does not let go', async () => {
    await withLock(lock, 0, async () => {
      const second = withLock(lock, 100, async () => 'in');
      await expect(second).rejects.toThrow(String(process.pid));
    });
  });

  it('OPS-24 is taken over from a holder that died, and let go by one that failed', async () => {
    const dead = { ...identify(process.pid), startTicks: 1 };
    writeFileSync(lock, JSON.stringify(dead));
    const failing = withLock(lock, 0, async () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(await withLock(lock, 0, async () => 'in')).toBe('in');
  });
});
