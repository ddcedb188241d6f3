// Where sandboxes mount their programs from.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { layOutTools } from './tool-cache.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gantry-tools-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const sources = () => ({
  node: join(folder, 'node'),
  claude: join(folder, 'claude'),
  sandboxd: join(folder, 'sandboxd.cjs'),
});
const write = (file: string, text: string): void => {
  rmSync(file, { force: true }); // as npm and the bundler do: a new file, not new content in the old one
  writeFileSync(file, text, { mode: 0o755 });
};
const lay = () => layOutTools(join(folder, 'tools'), join(folder, 'cache'), sources());

describe('the tool folder', () => {
  beforeEach(() => Object.values(sources()).forEach((file) => write(file, `1 ${basename(file)}`)));

  it('OPS-12 is named by its contents and holds the three programs', async () => {
    const tools = await lay();
    expect(basename(tools.folder)).toMatch(/^[0-9a-f]{64}$/);
    expect([tools.node, tools.claude, tools.sandboxd].map((file) => readFileSync(file, 'utf8'))).toEqual([
      '1 node',
      '1 claude',
      '1 sandboxd.cjs',
    ]);
    expect(statSync(tools.sandboxd).mode & 0o222).toBe(0);
    expect(await lay()).toEqual(tools);
  });

  it('OPS-12 never changes: a new content is a new folder, and the old one stays as it was', async () => {
    const before = await lay();
    write(sources().sandboxd, '2 sandboxd');
    write(sources().node, '2 node');
    const after = await lay();
    expect(after.folder).not.toBe(before.folder);
    expect([before.node, before.sandboxd].map((file) => readFileSync(file, 'utf8'))).toEqual([
      '1 node',
      '1 sandboxd.cjs',
    ]);
    expect(readFileSync(after.sandboxd, 'utf8')).toBe('2 sandboxd');
  });

  it('OPS-12 is there as a whole or not at all', async () => {
    rmSync(sources().claude);
    await expect(lay()).rejects.toMatchObject({ code: 'ENOENT' });
    const made = existsSync(join(folder, 'tools')) ? readdirSync(join(folder, 'tools')) : [];
    expect(made.filter((name) => !name.startsWith('.new-'))).toEqual([]);
  });
});
