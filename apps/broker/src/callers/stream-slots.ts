// How many requests one process may have under way at once, so that one sandbox cannot take the broker from the others.
import { AppError } from '#kernel';

export class StreamSlots {
  private readonly taken = new Map<string, number>();

  constructor(private readonly perProcess: number) {}

  /** Takes a slot; the result gives it back and may be called more than once. Throws `connection.limit_reached`. */
  take(processId: string): () => void {
    const count = this.taken.get(processId) ?? 0;
    if (count >= this.perProcess) {
      throw new AppError('connection.limit_reached', 'Too many requests at once from this process.', {
        retryAfterMs: 1_000,
      });
    }
    this.taken.set(processId, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.taken.get(processId) ?? 1) - 1;
      if (left === 0) this.taken.delete(processId);
      else this.taken.set(processId, left);
    };
  }
}
