// Live text of a worker that lost its run is dropped: its epoch is lower than one that was seen (R16).
import type { DeltaFrame } from '#domain';

const MAX_RUNS = 256;

export class EpochFilter {
  private readonly highest = new Map<string, number>();

  /** Whether a frame is of the newest attachment known of its run. */
  admits({ runId, epoch }: Pick<DeltaFrame, 'runId' | 'epoch'>): boolean {
    const known = this.highest.get(runId);
    if (known !== undefined && epoch < known) return false;
    if (known !== epoch) this.remember(runId, epoch);
    return true;
  }

  /** Keeps the runs that were heard of last; an older one has long ended. */
  private remember(runId: string, epoch: number): void {
    this.highest.delete(runId);
    this.highest.set(runId, epoch);
    if (this.highest.size <= MAX_RUNS) return;
    const oldest = this.highest.keys().next();
    if (oldest.done !== true) this.highest.delete(oldest.value);
  }
}
