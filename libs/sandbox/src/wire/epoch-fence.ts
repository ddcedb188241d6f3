// Fencing by a number that only grows: who holds a lower one than was seen changes nothing (R4).
import { AppError } from '#kernel';

export class EpochFence {
  constructor(private highest: number) {}

  get current(): number {
    return this.highest;
  }

  /** Lets this epoch pass and remembers it. Returns whether it is a new highest. Throws `sandbox.epoch_stale`. */
  pass(epoch: number): boolean {
    if (epoch < this.highest) throw staleEpoch(epoch, this.highest);
    const raised = epoch > this.highest;
    this.highest = epoch;
    return raised;
  }
}

export function staleEpoch(epoch: number, current: number): AppError {
  return new AppError('sandbox.epoch_stale', 'Someone with a newer epoch has taken over.', {
    details: { epoch, current },
  });
}
