// Random decisions that a seed repeats: every scenario draws from streams of its own, so that one more draw here changes nothing there.

/** 32 bits from a text, FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}

export class Seeded {
  readonly seed: number;
  #state: number;

  /** `seed`: any integer; its low 32 bits count. */
  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  /** A stream of its own, the same for the same seed and name. */
  fork(name: string): Seeded {
    return new Seeded(hash(`${this.seed}/${name}`));
  }

  /** From 0 to below 1. Mulberry32 (https://github.com/bryc/code/blob/master/jshash/PRNGs.md#mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Throws when the list is empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('There is nothing to pick from.');
    return list[this.int(0, list.length - 1)] as T;
  }
}
