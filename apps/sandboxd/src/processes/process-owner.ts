// Which job a process of the container belongs to. Pure: it judges one reading of the process table.
import { canStemFrom, markOf } from './launch-mark.js';
import { type ProcessEntry, isAlive } from './process-table.js';

export interface OwnedTree {
  /** Pid of the process that sandboxd started; null once it was reaped, when the number may be another's. */
  mainPid: number | null;
  mark: number;
}

/** `stray`: no job's any more. Only a process that lowered its own limits and left every parent gets there. */
export type Owner<Tree> = Tree | 'stray' | 'outside';

/**
 * The owner of every live process. A process belongs to the job whose mark it carries; if it has none, to the owner of its
 * nearest ancestor that has one. `outside` are the init process, sandboxd with its own children, and what came in through
 * `docker exec` (parent 0).
 */
export function findOwners<Tree extends OwnedTree>(
  entries: readonly ProcessEntry[],
  trees: readonly Tree[],
  supervisorPid: number,
): Map<ProcessEntry, Owner<Tree>> {
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]));
  const byMark = new Map(trees.map((tree) => [tree.mark, tree]));
  const byMainPid = new Map(trees.flatMap((tree) => (tree.mainPid === null ? [] : [[tree.mainPid, tree] as const])));

  const direct = ({ pid, limits }: ProcessEntry): Owner<Tree> | undefined =>
    byMark.get(markOf(limits) ?? -1) ?? byMainPid.get(pid);
  const ownerOf = (entry: ProcessEntry): Owner<Tree> => {
    let ancestor: ProcessEntry | undefined = entry;
    // A reading is not atomic: reused pids could form a ring in it, so the walk is bounded.
    for (let steps = 0; ancestor && steps < entries.length; steps++) {
      const owner = direct(ancestor);
      if (owner !== undefined) return owner;
      if (ancestor.pid === supervisorPid) return ancestor === entry || isSupervisors(entry) ? 'outside' : 'stray';
      if (ancestor.ppid === 0) return ancestor === entry || ancestor.pid !== 1 ? 'outside' : 'stray';
      ancestor = byPid.get(ancestor.ppid);
    }
    return 'stray';
  };
  return new Map(entries.filter(isAlive).map((entry) => [entry, ownerOf(entry)]));
}

/** A stray that the job may have started. What cannot stem from it is another job's, and spared when this one ends. */
export const isStrayOf = (entry: ProcessEntry, owner: Owner<OwnedTree>, { mark }: OwnedTree): boolean =>
  owner === 'stray' && canStemFrom(entry.limits, mark);

/**
 * Whether a child of sandboxd is its own, or a job that is just being started. A job can make a child of sandboxd too
 * (CLONE_PARENT), which carries the job's mark or what is left of it.
 */
const isSupervisors = ({ limits }: ProcessEntry): boolean =>
  (limits.resident === null && limits.locks === null) || markOf(limits) !== null;
