// Deletes folders without the users' work that lies in them.
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep);

/** Whether there is anything but folders in `folder`; what is no folder itself (a link, a file) is something. */
function holdsWork(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => !entry.isDirectory() || holdsWork(join(folder, entry.name)),
  );
}

/**
 * Those of `roots` that lie in one of `folders` and hold work, by their paths without symbolic links; each once. A link in one of
 * `folders` to a root elsewhere is kept too, because the projects are known by it.
 */
export function foldersWithWork(roots: readonly string[], folders: readonly string[]): string[] {
  const places = roots
    .filter((root) => statSync(root, { throwIfNoEntry: false })?.isDirectory() && holdsWork(root))
    .flatMap((root) => [realpathSync(root), join(realpathSync(dirname(root)), basename(root))]);
  const inside = places.filter((place) => folders.some((folder) => isBelow(place, realpathSync(folder))));
  return [...new Set(inside)];
}

/** Deletes `folder` and all below it but `kept` (paths without symbolic links) and the folders that lead there. */
export function deleteExcept(folder: string, kept: readonly string[]): void {
  if (!existsSync(folder)) return; // it went with another one
  const real = realpathSync(folder);
  deleteBelow(real, kept);
  if (!kept.some((path) => isBelow(path, real))) rmSync(folder, { recursive: true });
}

function deleteBelow(folder: string, kept: readonly string[]): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (kept.includes(path)) continue;
    if (kept.some((place) => isBelow(place, path))) deleteBelow(path, kept);
    else rmSync(path, { recursive: true, force: true });
  }
}
