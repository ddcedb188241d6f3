// Reads the kernel's process table of this container. Everything here is readable for root without CAP_SYS_PTRACE.
import { readFileSync, readdirSync } from 'node:fs';
import type { MarkLimits } from './launch-mark.js';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  processGroup: number;
  session: number;
  /** Letter of proc(5), of the first thread: Z is a zombie, T is stopped. */
  state: string;
  /** Those that were not reaped, the first one included. */
  threads: number;
  /** They carry a job's mark. */
  limits: MarkLimits;
}

/** Whether it can still run, now or after SIGCONT. The first thread can end before others, and is a zombie until they have. */
export const isAlive = ({ state, threads }: ProcessEntry): boolean => (state !== 'Z' && state !== 'X') || threads > 1;
export const isStopped = ({ state }: ProcessEntry): boolean => state === 'T' || state === 't';

export function readProcessTable(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const entry = readEntry(Number(name));
    if (entry) entries.push(entry);
  }
  return entries;
}

/** Null when it has ended meanwhile. */
function readEntry(pid: number): ProcessEntry | null {
  try {
    return parseEntry(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'), readFileSync(`/proc/${pid}/limits`, 'latin1'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

/** Formats: proc_pid_stat(5), where the name in brackets may hold anything, and proc_pid_limits(5). */
export function parseEntry(pid: number, stat: string, limits: string): ProcessEntry {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0] ?? 'X',
    ppid: Number(fields[1]),
    processGroup: Number(fields[2]),
    session: Number(fields[3]),
    threads: Number(fields[17]),
    limits: {
      resident: hardLimit(/^Max resident set\s+\S+\s+(\d+)/m.exec(limits)),
      locks: hardLimit(/^Max file locks\s+\S+\s+(\d+)/m.exec(limits)),
    },
  };
}

const hardLimit = (line: RegExpExecArray | null): number | null => (line === null ? null : Number(line[1]));
