// The epoch of the worker host (R4), kept on disk so that a worker of before a restart is refused after it too.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { EpochFence } from '#sandbox/wire';

export class HostFence {
  private readonly fence: EpochFence;

  /** `onDiskError`: the epoch holds, but the next boot may not know it. */
  constructor(
    private readonly file: string,
    private readonly onDiskError: (error: unknown) => void,
  ) {
    this.fence = new EpochFence(readEpoch(file));
  }

  get current(): number {
    return this.fence.current;
  }

  /** Returns whether it is a new highest. Throws `sandbox.epoch_stale`. */
  pass(hostEpoch: number): boolean {
    const raised = this.fence.pass(hostEpoch);
    if (raised) this.save(hostEpoch);
    return raised;
  }

  private save(hostEpoch: number): void {
    try {
      writeFileSync(`${this.file}.new`, String(hostEpoch), { mode: 0o600 });
      renameSync(`${this.file}.new`, this.file);
    } catch (error) {
      this.onDiskError(error);
    }
  }
}

function readEpoch(file: string): number {
  try {
    const epoch = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(epoch) ? epoch : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
