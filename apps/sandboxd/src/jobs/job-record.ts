// What is kept about a job on disk beside its spool, so that the next boot can say what became of it. Written whole or not at
// all; in a folder that only root reads.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessExit } from '#sandbox/wire';

const FILE = 'job.json';
const VERSION = 1;

export interface JobRecord {
  processId: string;
  bootId: string;
  pid: number | null;
  epoch: number;
  startedAtMs: number;
  /** Null while it runs or its output is not complete. */
  exit: ProcessExit | null;
  exitedAtMs: number | null;
  inputKeys: string[];
}

export function writeRecord(folder: string, record: JobRecord): void {
  const file = join(folder, FILE);
  writeFileSync(`${file}.new`, JSON.stringify({ version: VERSION, ...record }), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** `absent`: nothing was started in this folder. `unreadable`: something was, but what is not known any more. */
export function readRecord(folder: string): JobRecord | 'absent' | 'unreadable' {
  try {
    // Only sandboxd writes this folder, and renames whole files into place: what can be parsed is what it wrote.
    const { version, ...record } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as JobRecord & {
      version: number;
    };
    return version === VERSION ? record : 'unreadable';
  } catch (error) {
    if (error instanceof SyntaxError) return 'unreadable';
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw error;
  }
}
