// A token directory in memory, for tests of the broker; passes the contract of the real one.
import { createHash } from 'node:crypto';
import type { TokenDirectory, TokenOwner } from '#domain';
import { AppError, newId } from '#kernel';

export class InMemoryTokenDirectory implements TokenDirectory {
  private readonly owners = new Map<string, TokenOwner>();
  /** While set, every question fails (`fail`) or gets no answer at all (`hang`). */
  outage: 'fail' | 'hang' | undefined;
  /** Questions so far. */
  lookups = 0;

  async findOwner(token: string): Promise<TokenOwner | undefined> {
    this.lookups += 1;
    if (this.outage === 'hang') return new Promise(() => undefined);
    if (this.outage === 'fail') throw new AppError('service.unavailable', 'The directory is down.');
    return this.owners.get(hash(token));
  }

  /** Makes a process of a new project known under a token. */
  add(token: string, runId: string | null = null): TokenOwner {
    const owner: TokenOwner = { processId: newId(), projectId: newId(), sessionId: newId(), runId };
    this.owners.set(hash(token), owner);
    return owner;
  }

  setRun(processId: string, runId: string | null): void {
    for (const [key, owner] of this.owners) {
      if (owner.processId === processId) this.owners.set(key, { ...owner, runId });
    }
  }

  remove(processId: string): void {
    for (const [key, owner] of this.owners) {
      if (owner.processId === processId) this.owners.delete(key);
    }
  }

  /** Everything it keeps, as one text. */
  dump(): string {
    return JSON.stringify([...this.owners]);
  }
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
