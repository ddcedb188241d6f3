// Makes sure that a project's folder is there, lies where it may, and can be written by jobs (R21).
import { chown, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkProjectPath, isWithin } from '#domain';
import { AppError } from '#kernel';
import { rootOwnedFolder } from '../sandboxes/workspace-owner.js';

/** Owner of the folders that Gantry makes. */
const OWNER = { uid: 1000, gid: 1000 } as const;
const OWNER_MAY_WRITE_AND_ENTER = 0o300;

export interface PreparedPath {
  realPath: string;
  created: boolean;
}

/**
 * `roots`: where the project may lie, absolute. Throws `project.path_*`. What is made is made with its missing parents; nothing
 * that exists is changed.
 */
export async function preparePath(path: string, roots: readonly string[]): Promise<PreparedPath> {
  const clean = checkProjectPath(path, roots);
  await requireRoot(roots.filter((root) => isWithin(clean, root)));
  const realRoots = await realRootsOf(roots);
  const missing = await missingFolders(clean);
  const anchor = dirname(missing[0] ?? join(clean, '.'));
  const existing = missing.length === 0 ? clean : anchor;
  requireBeneath(await realPathOf(existing), realRoots, { orRoot: missing.length > 0 });
  for (const folder of missing) await make(folder);
  // Asked again: what lies on the way may have been swapped meanwhile.
  const realPath = await realPathOf(clean);
  requireBeneath(realPath, realRoots, { orRoot: false });
  await requireWritable(realPath);
  return { realPath, created: missing.length > 0 };
}

async function realRootsOf(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  return found.filter((root) => root !== undefined);
}

/** A root that is missing is the host's fault, not that of the path. */
async function requireRoot(above: readonly string[]): Promise<void> {
  if ((await realRootsOf(above)).length > 0) return;
  throw new AppError('project.path_not_directory', 'The root of this path does not exist on the host.', {
    details: { roots: above, remedy: `mkdir -p ${above.join(' ')}` },
  });
}

/** The folders that must be made, outermost first. */
async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = path; folder !== '/'; folder = dirname(folder)) {
    if (await exists(folder)) break;
    missing.unshift(folder);
  }
  return missing;
}

/** A link that leads nowhere exists: nothing is made behind it. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw notDirectory(error);
  }
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw notDirectory(error);
  }
}

function requireBeneath(path: string, roots: readonly string[], { orRoot }: { orRoot: boolean }): void {
  if (roots.some((root) => isWithin(path, root) && (orRoot || path !== root))) return;
  throw new AppError('project.path_outside_roots', 'The path leads out of the allowed roots.');
}

async function make(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o755 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
      throw new AppError('project.path_not_writable', 'The worker may not make this folder.', { cause: error });
    }
    throw notDirectory(error);
  }
  if (process.getuid?.() === 0) await chown(folder, OWNER.uid, OWNER.gid);
}

async function requireWritable(path: string): Promise<void> {
  const found = await stat(path);
  if (!found.isDirectory()) throw notDirectory();
  if (found.uid === 0) throw rootOwnedFolder(path);
  if ((found.mode & OWNER_MAY_WRITE_AND_ENTER) === OWNER_MAY_WRITE_AND_ENTER) return;
  throw new AppError('project.path_not_writable', 'The owner of the folder may not write in it.', {
    details: { path, remedy: `chmod u+rwx ${path}` },
  });
}

const notDirectory = (cause?: unknown): AppError =>
  new AppError('project.path_not_directory', 'The path, or what it lies in, is not a directory.', { cause });
