// Whether a process itself listens on a TCP port: that a port is taken says nothing about by whom.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ServiceStatus } from '../supervisor/service-spec.ts';

/** State LISTEN in /proc/net/tcp: TCP_LISTEN of the kernel's include/net/tcp_states.h. */
const LISTEN = '0A';

/** Tells for a service's name which ports its process listens on. */
export function listening(statuses: readonly ServiceStatus[]): (name: string) => (port: number) => boolean {
  const pids = new Map(statuses.map(({ name, pid }) => [name, pid]));
  return (name) => (port) => {
    const pid = pids.get(name);
    return typeof pid === 'number' && isListening(pid, port);
  };
}

/** False for a process that ended. One whose descriptors we may not read is believed: it may be ours. */
export function isListening(pid: number, port: number): boolean {
  try {
    const sockets = listeningSockets(pid, port);
    return (
      sockets.size > 0 && readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`)))
    );
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EACCES', 'EPERM'].includes(code)) return true;
    if (['ENOENT', 'ESRCH'].includes(code)) return false;
    throw error;
  }
}

/** Links of descriptors (`socket:[<inode>]`) that listen on the port in the process's network; columns as in proc_pid_net(5). */
function listeningSockets(pid: number, port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'));
  return new Set(
    rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, local, , state]) => state === LISTEN && local?.endsWith(suffix))
      .map((columns) => `socket:[${columns[9]}]`),
  );
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''; // closed meanwhile
    throw error;
  }
}
