// The HTTP requests of scripts that are under way: bounded for each user, and brought to an end when the gateway goes away.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#kernel';

const RETRY_AFTER_MS = 1000;

export class RestTraffic {
  private readonly perUser = new Map<string, number>();
  private readonly open = new Set<ServerResponse>();
  private readonly leaving = new AbortController();

  /** `maxPerUser`: requests of one user that may be under way, waiting ones included. */
  constructor(private readonly maxPerUser: number) {}

  /** Throws `service.draining` for requests that come too late. */
  begin(response: ServerResponse): void {
    if (this.leaving.signal.aborted) {
      throw new AppError('service.draining', 'This gateway is going away; connect again.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    this.open.add(response);
    response.once('close', () => this.open.delete(response));
  }

  /** Counts a request of a user until its connection is done with it. Throws `request.rate_limited`. */
  count(userId: string, response: ServerResponse): void {
    const others = this.perUser.get(userId) ?? 0;
    if (others >= this.maxPerUser) {
      throw new AppError('request.rate_limited', 'Too many requests of this user are under way.', {
        details: { max_pending: this.maxPerUser },
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    this.perUser.set(userId, others + 1);
    response.once('close', () => {
      const left = (this.perUser.get(userId) ?? 1) - 1;
      if (left === 0) this.perUser.delete(userId);
      else this.perUser.set(userId, left);
    });
  }

  /** Aborted when the client is gone or the gateway goes. */
  signalOf(response: ServerResponse): AbortSignal {
    const client = new AbortController();
    response.once('close', () => client.abort());
    return AbortSignal.any([client.signal, this.leaving.signal]);
  }

  /** From now on new requests are refused and waiting ones answer; resolves when all are done, after `withinMs` at the latest. */
  async drain(withinMs: number): Promise<void> {
    this.leaving.abort();
    const answered = Promise.all([...this.open].map((response) => once(response, 'close')));
    const late = new AbortController();
    await Promise.race([answered, delay(withinMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
  }
}
