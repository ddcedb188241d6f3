// The environment of a job: what the image sets, what the sandbox decides, what the request asks for; later ones win.
import type { JobUser } from './job-user.js';

export const JOB_PATH = '/opt/gantry/bin:/usr/local/bin:/usr/bin:/bin';
/** Of the container's environment these are sandboxd's own, or would change how a loader or Node runs a job. */
const NOT_FOR_JOBS = /^(SANDBOXD_.*|NODE_OPTIONS|LD_PRELOAD|HOME|PATH|USER|LOGNAME|OLDPWD|_|SHLVL)$/;
/** The shell that marks a job passes on only names that are identifiers. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function jobEnvironment(
  container: Readonly<Record<string, string | undefined>>,
  user: JobUser,
  requested: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(container).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && IDENTIFIER.test(entry[0]) && !NOT_FOR_JOBS.test(entry[0]),
  );
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(inherited),
    PATH: JOB_PATH,
    HOME: user.home,
    USER: user.name,
    LOGNAME: user.name,
    ...requested,
  };
}

/** The first requested name that no shell can pass on, if any. */
export function unusableName(requested: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(requested).find(([name, value]) => !IDENTIFIER.test(name) || value.includes('\0'))?.[0];
}
