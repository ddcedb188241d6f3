// Which folders may become projects: pure rules on paths; the file system is asked by the worker.
import { AppError } from '#kernel';

const normalise = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '').replace(/\/{2,}/g, '/') : path);

/** Whether `inner` is `outer` or lies beneath it. Both normalised and absolute. */
export const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);

/** Whether one of the two folders lies beneath the other. */
export const pathsNest = (a: string, b: string): boolean => a !== b && (isWithin(a, b) || isWithin(b, a));

/**
 * Checks a project's path against the allowed roots and gives it back without doubled or trailing slashes.
 * Throws `project.path_nul`, `project.path_relative`, `project.path_traversal`, `project.path_outside_roots`.
 */
export function checkProjectPath(path: string, roots: readonly string[]): string {
  if (path.includes('\0')) throw new AppError('project.path_nul', 'The path contains a NUL byte.');
  if (!path.startsWith('/')) throw new AppError('project.path_relative', 'The path must be absolute.');
  if (path.split('/').some((part) => part === '..' || part === '.')) {
    throw new AppError('project.path_traversal', 'The path must not contain "." or ".." parts.');
  }
  const clean = normalise(path);
  const root = roots.map(normalise).find((candidate) => isWithin(clean, candidate));
  if (root === undefined || clean === root) {
    throw new AppError('project.path_outside_roots', 'The path must lie beneath one of the allowed roots.', {
      details: { roots: [...roots] },
    });
  }
  return clean;
}
