// Remembers how often a fault has struck a turn, so that `demo:error 529 2` fails twice and then lets the turn pass.
import type { Answer } from './answer.js';
import type { Fault } from './demo-script.js';

const TURNS_KEPT = 1000;

export class FaultCounter {
  private readonly struck = new Map<string, number>();
  /** Unix time at which the limit of a turn ends, s. */
  private readonly limits = new Map<string, number>();

  /** The fault that strikes this attempt, counted; undefined when the turn may pass. A turn that passes begins anew. */
  next(answer: Answer, nowS = Date.now() / 1000): Fault | undefined {
    const before = this.struck.get(answer.turnKey) ?? 0;
    this.struck.delete(answer.turnKey);
    let upTo = 0;
    for (const fault of answer.faults) {
      if (fault.kind === 'limit') {
        if (nowS < this.limitOf(answer, fault.seconds, nowS)) return fault;
        continue;
      }
      upTo += fault.kind === 'hang' ? Infinity : fault.times;
      if (before < upTo) {
        this.remember(answer.turnKey, before + 1);
        return fault;
      }
    }
    return undefined;
  }

  /** When the limit that a request met ends, Unix time in s. */
  limitEnd(answer: Answer): number {
    return this.limits.get(answer.turnKey) ?? 0;
  }

  private limitOf({ turnKey }: Answer, seconds: number, nowS: number): number {
    const end = this.limits.get(turnKey) ?? Math.ceil(nowS + seconds);
    this.limits.set(turnKey, end);
    const oldest = this.limits.keys().next();
    if (this.limits.size > TURNS_KEPT && oldest.done === false) this.limits.delete(oldest.value);
    return end;
  }

  private remember(key: string, times: number): void {
    this.struck.set(key, times);
    const oldest = this.struck.keys().next();
    if (this.struck.size > TURNS_KEPT && oldest.done === false) this.struck.delete(oldest.value);
  }
}
