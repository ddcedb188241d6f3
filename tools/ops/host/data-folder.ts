// Whether the data folder can be one, found out before anything is started in it.
import { accessSync, constants, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StepError } from '../step.ts';

const NEXT = 'Set GANTRY_DATA_DIR to a folder that can be made and written.';

/** Throws when `root` is there and no folder. Writes nothing. */
export function requireNoFile(root: string): void {
  try {
    const found = statSync(root, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) throw new StepError(`The data folder ${root} is a file.`, NEXT);
  } catch (error) {
    throw translated(root, error);
  }
}

/** Throws when the data folder can be neither used nor made. Makes the folder above it, in which its lock lies. */
export function requireDataFolder(root: string): void {
  requireNoFile(root);
  const probe = `${root}.${process.pid}.probe`;
  try {
    makeFolders(dirname(root));
    writeFileSync(probe, '');
    rmSync(probe);
    if (statSync(root, { throwIfNoEntry: false })) accessSync(root, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw translated(root, error);
  }
}

/** One after another: Node's recursive mkdir never returns where the file system answers ENOENT, e.g. below /proc. */
function makeFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error; // else another command was faster
  }
}

function translated(root: string, error: unknown): unknown {
  const { code, path = root } = error as NodeJS.ErrnoException;
  if (code === undefined) return error; // none of the file system's
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  return new StepError(
    `The data folder ${root} cannot be used: ${REASONS[code] ?? code} (${path}).`,
    isForbidden ? `Run it as the user who ran \`make up\`, or: ${NEXT}` : NEXT,
    error,
  );
}

const REASONS: Record<string, string> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file or a broken link',
  ENOENT: 'it cannot be made there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
};
