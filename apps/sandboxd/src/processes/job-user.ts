// The sandbox user: what jobs run as, and how root looks at the file system with that user's rights. sandboxd has no capability
// to pass over file permissions, so a private folder of the user is closed to it unless it takes the user's place.
import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

export interface JobUser {
  uid: number;
  gid: number;
  name: string;
  home: string;
}

/** Runs `action` with the user's effective ids. Synchronous: nothing else of this process may run meanwhile. */
export function asUser<T>({ uid, gid }: JobUser, action: () => T): T {
  const own = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  if (own.uid === uid && own.gid === gid) return action();
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    return action();
  } finally {
    process.seteuid?.(own.uid);
    process.setegid?.(own.gid);
  }
}

/**
 * Whether the user could execute `program`, by execvp(3)'s rules: null, or the errno name. It only tells apart what cannot
 * start from what starts and fails; the kernel decides in the end.
 */
export function executableProblem(user: JobUser, program: string, cwd: string, path: string): string | null {
  return asUser(user, () => {
    const candidates = program.includes('/')
      ? [isAbsolute(program) ? program : join(cwd, program)]
      : path.split(':').map((folder) => join(isAbsolute(folder) ? folder : join(cwd, folder), program));
    let problem = 'ENOENT';
    for (const candidate of program === '' ? [] : candidates) {
      const found = fileProblem(user, candidate);
      if (found === null) return null;
      if (found === 'EACCES') problem = found;
    }
    return problem;
  });
}

function fileProblem(user: JobUser, file: string): string | null {
  try {
    const found = statSync(file);
    const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0;
    return found.isFile() && (found.mode >> shift) & 1 ? null : 'EACCES';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code === 'ENOTDIR' ? 'ENOENT' : code;
  }
}
