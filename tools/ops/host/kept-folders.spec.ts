// What stays of the users' work when data is deleted.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteExcept, foldersWithWork } from './kept-folders.ts';

let base: string;
let data: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-kept-')));
  data = join(base, 'data');
  mkdirSync(data);
});
afterEach(() => rmSync(base, { recursive: true }));

function file(...path: string[]): string {
  const whole = join(base, ...path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, 'text');
  return whole;
}

describe('folders with work', () => {
  it('OPS-19 stay, wherever they lie in the data, and nothing else does', () => {
    const work = [file('data', 'projects', 'one', 'a'), file('data', 'deep', 'work', 'b')];
    const ours = [file('data', 'secrets', 'token'), file('data', 'deep', 'c'), file('data', 'projects-2', 'd')];
    const kept = foldersWithWork([join(data, 'projects'), join(data, 'deep', 'work'), join(data, 'none')], [data]);
    expect(kept).toEqual([join(data, 'projects'), join(data, 'deep', 'work')]);
    deleteExcept(data, kept);
    expect(work.map(existsSync)).toEqual([true, true]);
    expect(ours.map(existsSync)).toEqual([false, false, false]);
  });

  it('OPS-19 that hold only empty folders are deleted', () => {
    mkdirSync(join(data, 'projects', 'one', 'two'), { recursive: true });
    expect(foldersWithWork([join(data, 'projects')], [data])).toEqual([]);
    deleteExcept(data, []);
    expect(existsSync(data)).toBe(false);
  });

  it('OPS-19 are found behind links: one that leads into the data, and one that leads out of it', () => {
    const inside = file('data', 'projects', 'a');
    const outside = file('elsewhere', 'b');
    symlinkSync(data, join(base, 'way-in'));
    symlinkSync(join(base, 'elsewhere'), join(data, 'out'));
    const roots = [join(base, 'way-in', 'projects'), join(data, 'out')];
    deleteExcept(join(base, 'way-in'), foldersWithWork(roots, [join(base, 'way-in')]));
    expect([inside, outside, join(data, 'out', 'b')].map(existsSync)).toEqual([true, true, true]);
  });

  it('OPS-19 outside of the data are no matter', () => {
    file('elsewhere', 'a');
    expect(foldersWithWork([join(base, 'elsewhere'), base], [data])).toEqual([]);
  });
});
