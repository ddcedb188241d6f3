// Waiting for what a listener hears, instead of sleeping.

/** Collects what a listener hears; `next` waits for one more. */
export class Heard<T> {
  readonly all: T[] = [];
  private taken = 0;
  private wake: (() => void) | undefined;

  readonly listen = (value: T): void => {
    this.all.push(value);
    this.wake?.();
  };

  async next(): Promise<T> {
    while (this.all.length <= this.taken) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.all[this.taken++] as T;
  }
}
