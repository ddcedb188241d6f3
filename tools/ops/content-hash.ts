// One hash for files, folders and words: the key of everything that is cached or skipped when unchanged.
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * SHA-256, hex, over the relative names and contents of all files in `paths` (files or folders, read in sorted order; missing ones count as
 * absent) and over `words`. `skip` leaves out files and folders by their path.
 */
export function contentHash(
  paths: readonly string[],
  words: readonly string[] = [],
  skip: (path: string) => boolean = () => false,
): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const file of filesOf(path, skip)) {
      const content = readFileSync(file);
      hash.update(`${relative(path, file)}\0${content.length}\0`).update(content);
    }
    hash.update('\0\0');
  }
  for (const word of words) hash.update(`${word.length}\0${word}`);
  return hash.digest('hex');
}

function filesOf(path: string, skip: (path: string) => boolean): string[] {
  if (skip(path)) return [];
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return [path];
  if (!stat?.isDirectory()) return [];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name), skip));
}
