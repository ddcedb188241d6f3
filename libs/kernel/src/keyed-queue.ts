// Work about the same thing is done one after another, in the order in which it came; different things do not wait for each other.

export class KeyedQueue {
  private readonly tails = new Map<string, Promise<void>>();

  /** Runs `task` after the tasks given before under the same key, whether or not these succeeded. Settles as the task does. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key);
    const result = before === undefined ? task() : before.then(task);
    const settled = (): void => {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    };
    const tail: Promise<void> = result.then(settled, settled); // the caller hears of a failure, the next in line does not
    this.tails.set(key, tail);
    return result;
  }
}
