// A token directory that rides out short outages: tokens confirmed moments ago stay good while the real directory cannot be asked.
import { createHash } from 'node:crypto';
import type { TokenDirectory, TokenOwner } from '#domain';
import { AppError, type Clock } from '#kernel';

export interface RecentTokenOptions {
  /** How long a confirmation stands in for an answer; default 30 s. */
  graceMs?: number;
  /** After this without an answer the directory counts as unavailable; default 2 s. */
  lookupTimeoutMs?: number;
  /** Most tokens remembered; default 10,000. */
  capacity?: number;
}

interface Confirmation {
  owner: TokenOwner;
  /** Monotonic ms at the START of the lookup that found it: what it says was true then, not when it arrived. */
  at: number;
}

export class RecentTokenDirectory implements TokenDirectory {
  private readonly confirmed = new Map<string, Confirmation>();
  private readonly graceMs: number;
  private readonly lookupTimeoutMs: number;
  private readonly capacity: number;

  constructor(
    private readonly directory: TokenDirectory,
    private readonly clock: Clock,
    options: RecentTokenOptions = {},
  ) {
    this.graceMs = options.graceMs ?? 30_000;
    this.lookupTimeoutMs = options.lookupTimeoutMs ?? 2_000;
    this.capacity = options.capacity ?? 10_000;
  }

  /** Asks the directory each time, so that a revoked token is refused at once; falls back on memory only when it fails. */
  async findOwner(token: string): Promise<TokenOwner | undefined> {
    // Only hashes are kept: a memory dump of the broker shows no caller's token.
    const key = createHash('sha256').update(token).digest('hex');
    const startedAt = this.clock.monotonicMs();
    let owner: TokenOwner | undefined;
    try {
      owner = await this.lookUp(token);
    } catch (error) {
      const known = this.confirmed.get(key);
      if (known !== undefined && startedAt - known.at <= this.graceMs) return known.owner;
      throw new AppError('service.unavailable', 'The broker cannot check its callers at the moment.', {
        cause: error,
        retryAfterMs: 1_000,
      });
    }
    this.remember(key, owner, startedAt);
    return owner;
  }

  private async lookUp(token: string): Promise<TokenOwner | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new AppError('service.timeout', 'No answer in time.')), this.lookupTimeoutMs);
    });
    try {
      return await Promise.race([this.directory.findOwner(token), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private remember(key: string, owner: TokenOwner | undefined, at: number): void {
    const known = this.confirmed.get(key);
    // Two lookups of one token may overtake each other; the one that started later knows better.
    if (known !== undefined && known.at > at) return;
    this.confirmed.delete(key);
    if (owner === undefined) return;
    this.confirmed.set(key, { owner, at });
    const oldest = this.confirmed.keys().next();
    if (this.confirmed.size > this.capacity && oldest.done === false) this.confirmed.delete(oldest.value);
  }
}
