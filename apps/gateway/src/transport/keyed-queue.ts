// Requests of one client about the same thing are served one after another, in the order in which they came (GW-9).

export class KeyedQueue {
  private readonly tails = new Map<string, Promise<void>>();

  /** Runs `task` after the tasks given before under the same key; `task` must not reject. */
  run(key: string, task: () => Promise<void>): Promise<void> {
    const before = this.tails.get(key);
    const tail = (before === undefined ? task() : before.then(task)).finally(() => {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    });
    this.tails.set(key, tail);
    return tail;
  }
}
