// What the kernel's out-of-memory killer did in this container, and to which job. The kernel only counts; that a job was hit
// follows from the count and from who was running.
import { existsSync, readFileSync } from 'node:fs';

/** Files of the container's memory controller: version 2, then version 1 (kernel documentation, cgroup-v2 and memory). */
const CONTROLLERS = [
  { kills: '/sys/fs/cgroup/memory.events', used: '/sys/fs/cgroup/memory.current' },
  { kills: '/sys/fs/cgroup/memory/memory.oom_control', used: '/sys/fs/cgroup/memory/memory.usage_in_bytes' },
] as const;

export interface MemoryCounters {
  oomKills: number;
  usedBytes: number;
}

/** Reads the counters; zeros where the container does not show them. */
export function readMemoryCounters(): MemoryCounters {
  const files = CONTROLLERS.find(({ kills }) => existsSync(kills));
  if (!files) return { oomKills: 0, usedBytes: 0 };
  const kills = /^oom_kill (\d+)$/m.exec(readFileSync(files.kills, 'latin1'))?.[1];
  return { oomKills: Number(kills ?? 0), usedBytes: Number(readFileSync(files.used, 'latin1')) };
}

type Suspicion = 'none' | 'possible' | 'certain';

export interface EndOfJob {
  code: number | null;
  signal: string | null;
  /** sandboxd itself sent it SIGKILL. */
  killedByUs: boolean;
}

export class MemoryWatch<Job> {
  private readonly running = new Map<Job, Suspicion>();
  private counted: number;

  constructor(private readonly read: () => MemoryCounters) {
    this.counted = read().oomKills;
  }

  started(job: Job): void {
    this.sample();
    this.running.set(job, 'none');
  }

  /**
   * Whether the killer ended this job or one of its children: certain if it struck while no other job ran; if several ran, it
   * is said of those that were ended by a SIGKILL that was not ours, or that report one of a child (128 + 9).
   */
  ended(job: Job, { code, signal, killedByUs }: EndOfJob): boolean {
    this.sample();
    const suspicion = this.running.get(job) ?? 'none';
    this.running.delete(job);
    if (suspicion !== 'possible') return suspicion === 'certain';
    return (signal === 'SIGKILL' && !killedByUs) || code === 137;
  }

  private sample(): void {
    const { oomKills } = this.read();
    if (oomKills === this.counted) return;
    this.counted = oomKills;
    const certain = this.running.size === 1;
    for (const [job, before] of this.running)
      this.running.set(job, certain || before === 'certain' ? 'certain' : 'possible');
  }
}
