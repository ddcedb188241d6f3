// Where this program is installed and which version it is.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '#kernel';

export interface Installation {
  version: string;
  /** Folder of the migrations that this version needs. */
  migrationsDir: string;
}

/** Looks upwards from `from` for our package.json: the sources and the built program lie at different depths. */
export function findInstallation(from: string): Installation {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const found = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string })
      : {};
    if (found.name === 'gantry' && found.version !== undefined) {
      return { version: found.version, migrationsDir: join(folder, 'prisma', 'migrations') };
    }
    if (dirname(folder) === folder) throw new AppError('config.invalid', 'The installation has no package.json.');
  }
}
