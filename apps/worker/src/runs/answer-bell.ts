// Tells a driver that answers may have come; a ring that nobody heard is heard by the next who listens.
export class AnswerBell {
  private readonly listeners = new Set<() => void>();
  private missed = false;

  ring(): void {
    if (this.listeners.size === 0) this.missed = true;
    for (const listener of this.listeners) listener();
  }

  /** Returns the unsubscriber. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.missed) {
      this.missed = false;
      // Not before the caller has what this returns.
      queueMicrotask(() => {
        if (this.listeners.has(listener)) listener();
      });
    }
    return () => {
      this.listeners.delete(listener);
    };
  }
}
