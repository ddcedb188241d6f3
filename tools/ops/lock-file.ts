// What a package-lock.json (version 3) does not say: optional packages that belong to other platforms and were left out.

export interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
}

export interface LockFile {
  packages: Record<string, LockedPackage>;
}

/** npm's words for operating systems and processors, as they occur in package names. */
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'win32', 'openharmony', 'netbsd', 'openbsd', 'sunos', 'aix'];
const PROCESSORS: Record<string, string> = {
  arm64: 'arm64',
  x64: 'x64',
  ia32: 'ia32',
  arm: 'arm',
  armv7: 'arm',
  ppc64: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
  loong64: 'loong64',
};

/** Where Node would find `name` from the package at `path`: beside it, or in any folder above. */
function isLocked(packages: LockFile['packages'], path: string, name: string): boolean {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true;
    if (folder === '') return false;
  }
}

/** Entries for the optional dependencies that the lock file names nowhere. A package whose platform its name does not tell is left out. */
export function missingOptionals({ packages }: LockFile): LockFile['packages'] {
  const missing: LockFile['packages'] = {};
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(path === '' ? {} : (entry.optionalDependencies ?? {}))) {
      const platform = platformOf(name);
      if (platform && !isLocked(packages, path, name)) {
        const version = range.replace(/^[\^~]/, '');
        missing[`node_modules/${name}`] = { version, ...platform, ...(entry.dev ? { dev: true } : {}), optional: true };
      }
    }
  }
  return missing;
}

function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu'> | undefined {
  const words = name.split(/[-/]/);
  if (words.includes('wasm32')) return { cpu: ['wasm32'] };
  const system = words.find((word) => SYSTEMS.includes(word));
  const processor = words.map((word) => PROCESSORS[word]).find((known) => known !== undefined);
  if (system === undefined) return undefined;
  return { os: [system], ...(processor ? { cpu: [processor] } : {}) };
}
