// Files that only their owner may read, written whole or not at all.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Text of a file, or undefined if there is none. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function makePrivateFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  return path;
}

/** Replaces the file in one step, so that a reader sees the old text or the new one. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

/** The secret kept in `path`; the first time it is made of 32 random bytes, base64url, after `prefix`. */
export function keepSecret(path: string, prefix = ''): string {
  const kept = readIfPresent(path)?.trim();
  if (kept) return kept;
  const secret = prefix + randomBytes(32).toString('base64url');
  writePrivate(path, `${secret}\n`);
  return secret;
}
