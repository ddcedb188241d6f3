// Where this installation keeps its migrations.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '#kernel';

/** Looks upwards from `from`: the sources and the built program lie at different depths. */
export function findMigrations(from: string): string {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const migrations = join(folder, 'prisma', 'migrations');
    if (existsSync(migrations)) return migrations;
  }
  throw new AppError('config.invalid', 'The installation has no folder prisma/migrations.');
}
