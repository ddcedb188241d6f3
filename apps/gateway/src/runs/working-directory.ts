// Where in the sandbox a command runs: always inside the workspace.
import { resolve } from 'node:path/posix';
import { isWithin } from '#domain';
import { AppError } from '#kernel';

/** Where a project's folder is mounted in its sandbox. */
export const WORKSPACE = '/workspace';

/**
 * The absolute path inside the sandbox, or null for the workspace itself. Throws `command.working_directory` for a path that leads out of
 * it; whether the folder exists is seen by the sandbox, which also resolves links.
 */
export function workingDirectoryOf(asked: string | undefined): string | null {
  if (asked === undefined) return null;
  const path = resolve(WORKSPACE, asked);
  if (!isWithin(path, WORKSPACE)) {
    throw new AppError('command.working_directory', 'The working directory must lie inside the workspace.', {
      details: { workspace: WORKSPACE },
    });
  }
  return path === WORKSPACE ? null : path;
}
