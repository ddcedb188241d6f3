// A service's log file: the service writes to it directly, so that it goes on when the supervisor dies; rotated by size.
import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';

/** A log takes about `maxBytes` times `files` of the disk, and never more than twice that. */
export interface LogLimits {
  /** A log that is larger when it is looked at moves on. */
  maxBytes: number;
  /** The log itself and its older ones; at least 2. */
  files: number;
}

export const USUAL_LOG_LIMITS: LogLimits = { maxBytes: 10 * 1_048_576, files: 5 };
/** More files than any limit allows: what a higher one left is still found. */
const MOST_FILES = 100;
const COPY_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

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
 * Moves a log's content to `<path>.1` (older ones to .2 and so on) when it is too large. The file itself stays, because the service holds it
 * open for appending: what it writes between the last read and the cut, two system calls, is lost. Of a log that grew to more than twice the
 * limit before anybody looked only the end is kept. The log is cut even when older ones cannot be kept (a full disk); then it throws.
 */
export function rotateIfLarge(path: string, { maxBytes, files }: LogLimits): boolean {
  if (!existsSync(path) || statSync(path).size <= maxBytes) return false;
  try {
    shiftOlder(path, files);
    copyEnd(path, `${path}.1`, 2 * maxBytes);
  } catch (error) {
    truncateSync(path);
    throw error;
  }
  truncateSync(path);
  return true;
}

/** Makes place for `.1`, and removes what is more than `files`. */
function shiftOlder(path: string, files: number): void {
  for (let age = files - 1; age < MOST_FILES; age++) rmSync(`${path}.${age}`, { force: true });
  for (let age = files - 2; age >= 1; age--) {
    if (existsSync(`${path}.${age}`)) renameSync(`${path}.${age}`, `${path}.${age + 1}`);
  }
}

/** Whole lines from the last `maxBytes` on, to the end as it is when it is reached; a half copy is removed. */
function copyEnd(path: string, target: string, maxBytes: number): void {
  const [from, to] = [openSync(path, 'r'), openSync(target, 'wx', 0o600)];
  try {
    let position = Math.max(0, statSync(path).size - maxBytes);
    let cutsALine = position > 0;
    const limit = position + maxBytes + COPY_BYTES; // who writes faster than this copies is not followed for ever
    const buffer = Buffer.allocUnsafe(COPY_BYTES);
    for (let length = -1; length !== 0 && position < limit; position += length) {
      length = readSync(from, buffer, 0, buffer.length, position);
      let start = 0;
      if (cutsALine && length > 0) {
        start = buffer.subarray(0, length).indexOf(LINE_FEED) + 1;
        cutsALine = false;
      }
      while (start < length) start += writeSync(to, buffer, start, length - start);
    }
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  } finally {
    closeSync(from);
    closeSync(to);
  }
}
