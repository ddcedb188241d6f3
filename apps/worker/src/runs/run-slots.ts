// The host's limit of concurrent runs: a fair semaphore. Runs that wait for a person or are paused hold no slot (R4).

export interface RunSlot {
  /** Gives it back; a second call does nothing. */
  release(): void;
}

interface Waiter {
  grant: () => void;
}

export class RunSlots {
  private taken = 0;
  private readonly waiters: Waiter[] = [];

  /** `limit`: most slots at the same time, at least 1. */
  constructor(private readonly limit: number) {}

  get inUse(): number {
    return this.taken;
  }

  /** First come, first served. Undefined when the signal is aborted before it is our turn. */
  async take(signal: AbortSignal): Promise<RunSlot | undefined> {
    if (signal.aborted) return undefined;
    if (this.taken < this.limit && this.waiters.length === 0) return this.takeNow();
    return new Promise((resolve) => {
      const leave = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(undefined);
      };
      const waiter: Waiter = {
        grant: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.takeNow());
        },
      };
      this.waiters.push(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Takes one even above the limit: for a run that is at work already, under an earlier worker. */
  takeNow(): RunSlot {
    this.taken += 1;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.taken -= 1;
        this.grantNext();
      },
    };
  }

  private grantNext(): void {
    while (this.taken < this.limit) {
      const next = this.waiters.shift();
      if (next === undefined) return;
      next.grant();
    }
  }
}
