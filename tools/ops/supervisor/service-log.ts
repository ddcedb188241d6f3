// A service's log file: the service writes to it directly, so that it goes on when the supervisor dies; rotated by size.
import { closeSync, copyFileSync, existsSync, openSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';

const KEPT = 3;
export const MAX_LOG_BYTES = 10 * 1_048_576;

/** Calls `use` with a descriptor that appends to the log. Children keep their own copy of it. */
export function withLogFile<T>(path: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(path, 'a', 0o600);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Moves a log's content to `<path>.1` (older ones to .2 and .3) when it is larger than `maxBytes`. The file itself stays, because the
 * service holds it open for appending; what it writes between the copy and the cut is lost, at most a few lines.
 */
export function rotateIfLarge(path: string, maxBytes = MAX_LOG_BYTES): boolean {
  if (!existsSync(path) || statSync(path).size <= maxBytes) return false;
  rmSync(`${path}.${KEPT}`, { force: true });
  for (let age = KEPT - 1; age >= 1; age--) {
    if (existsSync(`${path}.${age}`)) renameSync(`${path}.${age}`, `${path}.${age + 1}`);
  }
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
  return true;
}
