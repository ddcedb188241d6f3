// The files that the project consists of: tracked ones and new ones, not what git ignores.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ProjectFile {
  /** Relative to the checkout, with forward slashes. */
  path: string;
  text: string;
}

/** Something that a check refuses. */
export interface Problem {
  path: string;
  /** From 1, where there is one. */
  line?: number;
  message: string;
}

/** Every text file. A file with a NUL byte counts as binary and is left out. */
export function projectFiles(checkout: string): ProjectFile[] {
  const listing = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: checkout,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (listing.status !== 0) throw new Error(`git ls-files failed: ${listing.stderr || String(listing.error)}`);
  return listing.stdout
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(checkout, path)))
    .map((path) => ({ path, text: readFileSync(join(checkout, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
}

/** What breaks rules on purpose, so that a test can see them caught. */
export const isFixture = (path: string): boolean => path.startsWith('test/fixtures/');

export const isTypeScript = (path: string): boolean => /\.tsx?$/.test(path) && !path.endsWith('.d.ts');

/** Files whose tests Jest runs, and the contract suites that such files call. */
export const isTestFile = (path: string): boolean =>
  !isFixture(path) && (/(\.|-)spec\.tsx?$/.test(path) || path.endsWith('.contract.ts'));

/** Tests, and what only tests use. */
export const isTestCode = (path: string): boolean =>
  isTestFile(path) || path.startsWith('test/') || path.startsWith('libs/testing/');
