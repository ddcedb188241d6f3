// What this machine has left: processors, memory, and the disks that Gantry writes to.
import { statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import type { DiskSpace, HostLoad } from '#domain';

interface CpuTimes {
  busy: number;
  all: number;
}

function cpuTimes(): CpuTimes {
  return cpus().reduce<CpuTimes>(
    (sum, { times }) => {
      const all = times.user + times.nice + times.sys + times.idle + times.irq;
      return { busy: sum.busy + all - times.idle, all: sum.all + all };
    },
    { busy: 0, all: 0 },
  );
}

/** Space of the file system beneath a folder, as an unprivileged user has it. Undefined for a folder that is not there. */
export async function diskSpace(disk: string, path: string): Promise<DiskSpace | undefined> {
  try {
    const { bsize, bavail, blocks } = await statfs(path);
    return { disk, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export class HostLoadMeter {
  private last = cpuTimes();

  constructor(private readonly folders: { dataDir: string; projectRoots: readonly string[] }) {}

  /** Processors: since the last measurement. */
  async measure(): Promise<HostLoad> {
    const now = cpuTimes();
    const all = now.all - this.last.all;
    const cpuPercent = all === 0 ? 0 : Math.round((100 * (now.busy - this.last.busy)) / all);
    this.last = now;
    const memoryTotalBytes = totalmem();
    return { cpuPercent, memoryUsedBytes: memoryTotalBytes - freemem(), memoryTotalBytes, disks: await this.disks() };
  }

  async disks(): Promise<DiskSpace[]> {
    const { dataDir, projectRoots } = this.folders;
    const roots = projectRoots.map((root, index) => [
      projectRoots.length > 1 ? `projects-${index + 1}` : 'projects',
      root,
    ]);
    const found = await Promise.all(
      [['data', dataDir], ...roots].map(([disk = '', path = '']) => diskSpace(disk, path)),
    );
    return found.filter((space) => space !== undefined);
  }
}
