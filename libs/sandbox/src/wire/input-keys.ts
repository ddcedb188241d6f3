// The keys of the input that a process was given, so that a repeated one is a no-op (R8). Only the newest are kept.

/** As the port says: older ones are forgotten, and a repeat of them would be written again. */
export const MAX_INPUT_KEYS = 1000;

export class InputKeys {
  private readonly keys = new Set<string>();

  has(key: string): boolean {
    return this.keys.has(key);
  }

  add(key: string): void {
    this.keys.add(key);
    if (this.keys.size <= MAX_INPUT_KEYS) return;
    for (const oldest of this.keys) {
      this.keys.delete(oldest);
      return;
    }
  }

  /** Oldest first. */
  list(): string[] {
    return [...this.keys];
  }
}
