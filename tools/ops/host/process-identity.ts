// Which process is meant by a pid: the pid together with its start time, so that a reused pid is never signalled (OPS-7).
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks between boot and the process's start: field 22 of /proc/<pid>/stat, see proc_pid_stat(5). */
  startTicks: number;
  /** The boot in which both hold. */
  bootId: string;
}

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** State letter and start time out of the text of /proc/<pid>/stat. The command's name may hold spaces and brackets. */
export function parseStat(stat: string): { state: string; startTicks: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: Number(fields[19]) };
}

function statOf(pid: number): { state: string; startTicks: number } | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** The identity of a process that lives now, or undefined. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = statOf(pid);
  return stat && { pid, startTicks: stat.startTicks, bootId: bootId() };
}

/** Whether this very process still lives. A zombie does not: it only waits to be read by its parent. */
export function isAlive(identity: ProcessIdentity): boolean {
  const stat = statOf(identity.pid);
  const same = stat?.startTicks === identity.startTicks && identity.bootId === bootId();
  return same && !['Z', 'X'].includes(stat.state);
}

/** Signals this very process, or with `group` the group that it leads. Gives whether it was still there. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals, options = { group: false }): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(options.group ? -identity.pid : identity.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
