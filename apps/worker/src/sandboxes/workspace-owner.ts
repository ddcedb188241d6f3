// As whom the jobs of a project run: the owner of its folder (R21).
import { stat } from 'node:fs/promises';
import { AppError } from '#kernel';

export interface WorkspaceOwner {
  uid: number;
  gid: number;
}

/** The remedy for a folder in which no job could write; `details` of `project.path_not_writable`. */
export const rootOwnedFolder = (path: string): AppError =>
  new AppError(
    'project.path_not_writable',
    'The folder belongs to root, so jobs, which never run as root, could not write.',
    {
      details: { path, remedy: `chown -R 1000:1000 ${path}` },
    },
  );

/** Throws `project.path_not_writable` for root's folders, `project.path_not_directory` if there is no such folder. */
export async function workspaceOwner(path: string): Promise<WorkspaceOwner> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new AppError('project.path_not_directory', "The project's folder is not there any more.", { cause });
  });
  if (!found.isDirectory())
    throw new AppError('project.path_not_directory', "The project's folder is not a directory.");
  if (found.uid === 0) throw rootOwnedFolder(path);
  return { uid: found.uid, gid: found.gid };
}
