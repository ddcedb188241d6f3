// Reads the kernel's process table of this container. Everything here is readable for root without CAP_SYS_PTRACE.
import { readFileSync, readdirSync } from 'node:fs';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  processGroup: number;
  session: number;
  /** Letter of proc(5): Z is a zombie, T is stopped. */
  state: string;
  /** The hard limit of the resident set in bytes, which carries a job's mark (see launch-mark.ts); null = unlimited. */
  residentLimit: number | null;
}

/** Whether it can still run, now or after SIGCONT. */
export const isAlive = ({ state }: ProcessEntry): boolean => state !== 'Z' && state !== 'X';
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
  const resident = /^Max resident set\s+\S+\s+(\d+|unlimited)/m.exec(limits)?.[1];
  return {
    pid,
    state: fields[0] ?? 'X',
    ppid: Number(fields[1]),
    processGroup: Number(fields[2]),
    session: Number(fields[3]),
    residentLimit: resident === undefined || resident === 'unlimited' ? null : Number(resident),
  };
}
