// Signals the processes of a job: its group, its session, or everything it started. Works on readings of the process table, so
// that it needs no fork and reaches processes whose parents are gone.
import { setTimeout as sleep } from 'node:timers/promises';
import type { KillScope, ProcessSignal } from '#sandbox/wire';
import { type OwnedTree, type Owner, findOwners, isStrayOf } from './process-owner.js';
import { type ProcessEntry, isStopped, readProcessTable } from './process-table.js';

/** A process whose death takes longer waits for hardware; nobody can kill it sooner. */
const KILL_DEADLINE_MS = 5000;
const KILL_POLL_MS = 2;
/** A tree that forks faster than it is stopped for this many rounds is signalled as it is. */
const MAX_FREEZE_ROUNDS = 100;

/** What a job looks like from the process table. */
export interface JobTree extends OwnedTree {
  /** Pid of its first process, which is also its process group and session; kept after its end. */
  readonly leaderPid: number;
}

export class ProcessTrees {
  private readonly trees = new Set<JobTree>();

  add(tree: JobTree): void {
    this.trees.add(tree);
  }

  /** Live processes of each tree besides its main one. */
  countDescendants(): Map<JobTree, number> {
    const counts = new Map<JobTree, number>();
    for (const [{ pid }, owner] of this.owners()) {
      if (typeof owner !== 'string' && pid !== owner.mainPid) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Forgets trees that have ended. What a forgotten job left behind keeps its owner as long as it lives, so that nobody
   * takes it for a stray.
   */
  prune(isNeeded: (tree: JobTree) => boolean): void {
    const counts = this.countDescendants();
    for (const tree of this.trees) {
      if (tree.mainPid === null && !counts.has(tree) && !isNeeded(tree)) this.trees.delete(tree);
    }
  }

  /** Returns how many processes got the signal. With SIGKILL to a tree it returns when none of them is left. */
  async signal(tree: JobTree, signal: ProcessSignal, scope: KillScope): Promise<number> {
    if (scope !== 'tree') return this.signalScope(tree, signal, scope);
    if (signal === 'SIGKILL') return this.killTree(tree);
    if (signal === 'SIGSTOP') return this.freeze(() => this.members(tree)).length;
    return send(this.members(tree), signal);
  }

  private signalScope(tree: JobTree, signal: ProcessSignal, scope: 'group' | 'session'): number {
    const field = scope === 'group' ? 'processGroup' : 'session';
    const members = this.members(tree).filter((entry) => entry[field] === tree.leaderPid);
    if (members.length === 0 || scope === 'session') return send(members, signal);
    // One call for the whole group, so that no member can fork between two of ours.
    return kill(-tree.leaderPid, signal) ? members.length : 0;
  }

  /** Stops everything first, so that nothing forks while the list is being walked; then kills, until nothing is left. */
  private async killTree(tree: JobTree): Promise<number> {
    const killed = new Set<number>();
    for (const deadline = Date.now() + KILL_DEADLINE_MS; Date.now() < deadline; await sleep(KILL_POLL_MS)) {
      const members = this.freeze(() => this.membersAndStrays(tree));
      if (members.length === 0) break;
      for (const entry of members) if (kill(entry.pid, 'SIGKILL')) killed.add(entry.pid);
    }
    return killed.size;
  }

  /** Stops processes until a reading shows none that runs; returns that reading. */
  private freeze(read: () => ProcessEntry[]): ProcessEntry[] {
    let members = read();
    for (let round = 0; round < MAX_FREEZE_ROUNDS; round++) {
      const running = members.filter((entry) => !isStopped(entry));
      if (running.length === 0 || send(running, 'SIGSTOP') === 0) break;
      members = read();
    }
    return members;
  }

  private members(tree: JobTree): ProcessEntry[] {
    return [...this.owners()].filter(([, owner]) => owner === tree).map(([entry]) => entry);
  }

  private membersAndStrays(tree: JobTree): ProcessEntry[] {
    return [...this.owners()]
      .filter(([entry, owner]) => owner === tree || isStrayOf(entry, owner, tree))
      .map(([entry]) => entry);
  }

  private owners(): Map<ProcessEntry, Owner<JobTree>> {
    return findOwners(readProcessTable(), [...this.trees], process.pid);
  }
}

function send(entries: readonly ProcessEntry[], signal: ProcessSignal): number {
  return entries.filter(({ pid }) => kill(pid, signal)).length;
}

/** False when the process has ended meanwhile. */
function kill(pid: number, signal: ProcessSignal): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
