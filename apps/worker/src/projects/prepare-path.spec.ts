import { chown, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePath } from './prepare-path.js';

let base: string;
let root: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'gantry-path-')));
  root = join(base, 'root');
  await mkdir(root);
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const prepare = (path: string) => preparePath(path, [root]);
const owned = async (path: string) => {
  await mkdir(path);
  await chown(path, 1000, 1000);
};

describe('preparePath', () => {
  it('ENG-60 makes a missing folder with its parents, for the sandbox user', async () => {
    const path = join(root, 'a', 'b');
    expect(await prepare(path)).toEqual({ realPath: path, created: true });
    for (const made of [path, join(root, 'a')]) expect(await stat(made)).toMatchObject({ uid: 1000, gid: 1000 });
    expect(await stat(root)).toMatchObject({ uid: 0 });
    expect(await prepare(path)).toEqual({ realPath: path, created: false });
  });

  it('ENG-60 takes an existing folder as it is', async () => {
    const path = join(root, 'mine');
    await mkdir(path, { mode: 0o700 });
    await chown(path, 4242, 4343);
    expect(await prepare(path)).toEqual({ realPath: path, created: false });
    const { uid, gid, mode } = await stat(path);
    expect([uid, gid, mode & 0o777]).toEqual([4242, 4343, 0o700]);
  });

  it('ENG-60 refuses a folder of root, with the remedy, and does not touch it', async () => {
    const path = join(root, 'roots');
    await mkdir(path);
    await expect(prepare(path)).rejects.toMatchObject({
      code: 'project.path_not_writable',
      details: { remedy: `chown -R 1000:1000 ${path}` },
    });
    expect(await stat(path)).toMatchObject({ uid: 0, gid: 0 });
  });

  it('ENG-60 refuses a folder in which its owner may not write', async () => {
    const path = join(root, 'closed');
    await mkdir(path, { mode: 0o555 });
    await chown(path, 1000, 1000);
    await expect(prepare(path)).rejects.toMatchObject({ code: 'project.path_not_writable' });
  });

  it('ENG-60 refuses a file, what would lie in a file, and a link that leads nowhere', async () => {
    await writeFile(join(root, 'file'), '');
    await symlink(join(base, 'nowhere'), join(root, 'dangling'));
    for (const path of ['file', 'file/below', 'dangling', 'dangling/below']) {
      await expect(prepare(join(root, path))).rejects.toMatchObject({ code: 'project.path_not_directory' });
    }
    await expect(stat(join(base, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('ENG-60 refuses a link that leads out of the roots, also on the way, and makes nothing behind it', async () => {
    await owned(join(base, 'outside'));
    await symlink(join(base, 'outside'), join(root, 'link'));
    for (const path of ['link', 'link/new', 'link/new/deeper']) {
      await expect(prepare(join(root, path))).rejects.toMatchObject({ code: 'project.path_outside_roots' });
    }
    await expect(stat(join(base, 'outside', 'new'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('ENG-60 follows a link that stays within the roots, and says where it leads', async () => {
    await owned(join(root, 'real'));
    await symlink(join(root, 'real'), join(root, 'alias'));
    expect(await prepare(join(root, 'alias'))).toEqual({ realPath: join(root, 'real'), created: false });
  });

  it('ENG-60 refuses a link to the root itself', async () => {
    await chown(root, 1000, 1000);
    await symlink(root, join(root, 'self'));
    await expect(prepare(join(root, 'self'))).rejects.toMatchObject({ code: 'project.path_outside_roots' });
  });

  it('ENG-60 takes a root that is a link itself for what it leads to', async () => {
    await symlink(root, join(base, 'link-to-root'));
    await owned(join(root, 'p'));
    const prepared = await preparePath(join(base, 'link-to-root', 'p'), [join(base, 'link-to-root')]);
    expect(prepared).toEqual({ realPath: join(root, 'p'), created: false });
  });

  it.each([
    ['relative', 'project.path_relative'],
    ['/etc', 'project.path_outside_roots'],
    ['ROOT', 'project.path_outside_roots'],
    ['ROOT/../x', 'project.path_traversal'],
    ['ROOT/a\0b', 'project.path_nul'],
  ])('ENG-60 refuses %j as %s', async (path, code) => {
    await expect(prepare(path.replace('ROOT', root))).rejects.toMatchObject({ code });
  });

  it('ENG-60 makes nothing without a root', async () => {
    await expect(preparePath(join(root, 'a'), [])).rejects.toMatchObject({ code: 'project.path_outside_roots' });
  });

  it('ENG-60 says when it is the root that is missing, and makes none', async () => {
    await rm(root, { recursive: true });
    await expect(prepare(join(root, 'a'))).rejects.toMatchObject({
      code: 'project.path_not_directory',
      details: { roots: [root] },
    });
    await expect(stat(root)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
