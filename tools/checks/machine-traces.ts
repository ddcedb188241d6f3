// Traces of the machine on which something was written: its folders, its home, its package sources.
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { isFixture, type Problem, type ProjectFile } from './project-files.ts';

/** Places that belong to systems and containers rather than to one person's machine. */
const PUBLIC_PLACES = /^\/(tmp|opt|srv|usr|var|app|root|workspace|mnt)?(\/|$)/;
const PUBLIC_HOSTS = /(^|\.)(npmjs\.org|yarnpkg\.com|debian\.org|ubuntu\.com|github\.com|localhost|127\.0\.0\.1)$/;
/** Somebody's own folder; made-up people may appear in examples. */
const PERSONAL_FOLDER =
  /\/Users\/[A-Za-z]|C:\\\\?Users\\|\/home\/(?!(?:agent|node|user|gantry|team|me|you|ann|alice)\b|<)[a-z][a-z0-9_-]{2,}\//;

/** The strings that betray this machine, from where the checkout lies and where npm gets its packages. */
export function machineTraces(checkout: string, registry: string, home: string = homedir()): string[] {
  const folders = [checkout, dirname(checkout), home]
    .filter((path) => path !== '/' && !PUBLIC_PLACES.test(path))
    .map((path) => (path === checkout || path === home ? path : `${path}/`));
  const host = URL.canParse(registry) ? new URL(registry).hostname : '';
  return [...folders, ...(host === '' || PUBLIC_HOSTS.test(host) ? [] : [host])];
}

export function checkMachineTraces(files: readonly ProjectFile[], traces: readonly string[]): Problem[] {
  return files
    .filter(({ path }) => !isFixture(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((content, index) => {
        const trace = traces.find((candidate) => content.includes(candidate));
        if (trace !== undefined) return [{ path, line: index + 1, message: `${trace} exists only on this machine.` }];
        const personal = path.startsWith('tools/checks/') ? null : PERSONAL_FOLDER.exec(content);
        return personal === null
          ? []
          : [{ path, line: index + 1, message: `${personal[0]}… is somebody's own folder.` }];
      }),
    );
}

/** Lock-file entries must not name the registry of whoever wrote the file: npm then takes the user's own. */
export function checkLockFile(files: readonly ProjectFile[]): Problem[] {
  return files
    .filter(({ path }) => path === 'package-lock.json')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((content, index) => {
        const url = /"resolved": "(https?:\/\/[^"]+)"/.exec(content)?.[1];
        return url === undefined || new URL(url).hostname === 'registry.npmjs.org'
          ? []
          : [{ path, line: index + 1, message: `${new URL(url).hostname} is not the public registry.` }];
      }),
    );
}
