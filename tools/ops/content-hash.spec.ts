// The key of caches and of what is skipped when unchanged.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash } from './content-hash.ts';

let folder: string;
const put = (name: string, text: string): void => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-hash-'));
  put('a.ts', 'one');
  put('deep/b.ts', 'two');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the hash of contents', () => {
  it('OPS-23 is equal for equal contents, wherever they lie', () => {
    const before = contentHash([folder]);
    const moved = `${folder}-moved`;
    renameSync(folder, moved);
    folder = moved;
    expect(contentHash([folder])).toBe(before);
  });

  it('OPS-23 differs with a text, a name, a new file, a word, and where one file ends', () => {
    const hashes = [contentHash([folder]), contentHash([folder], ['word']), contentHash([folder], ['wo', 'rd'])];
    put('a.ts', 'onetwo');
    put('deep/b.ts', '');
    hashes.push(contentHash([folder]));
    renameSync(join(folder, 'a.ts'), join(folder, 'c.ts'));
    hashes.push(contentHash([folder]));
    put('d.ts', '');
    hashes.push(contentHash([folder]));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('leaves out what is skipped, and takes a missing path for empty', () => {
    const skipDeep = (path: string): boolean => path.endsWith('deep');
    const before = contentHash([folder], [], skipDeep);
    put('deep/b.ts', 'changed');
    expect(contentHash([folder], [], skipDeep)).toBe(before);
    expect(contentHash([join(folder, 'missing')])).toMatch(/^[0-9a-f]{64}$/);
  });
});
