// Ends a stage with everything that it started, also what moved to a process group of its own. Linux.
import { readdirSync, readFileSync } from 'node:fs';

/** The parent of each process, by the fourth field of /proc/<pid>/stat (proc(5)); the second may contain spaces and brackets. */
function parents(): Map<number, number> {
  const parentOf = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parentOf.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return parentOf;
}

/** Told by its code alone: in a test, Node's errors are of another realm than `Error`. */
const isGone = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code));

/** `root` and all its descendants, parents before children. */
export function processTree(root: number): number[] {
  const parentOf = parents();
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parentOf) if (parent === pid) tree.push(child);
  }
  return tree;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/**
 * Kills the process group of `root` and its descendants. They are stopped first, so that nobody forks while the list is read.
 * What was orphaned to init before is out of reach.
 */
export function killTree(root: number): void {
  send(-root, 'SIGSTOP');
  const tree = processTree(root);
  send(-root, 'SIGKILL');
  for (const pid of tree) send(pid, 'SIGKILL');
}
