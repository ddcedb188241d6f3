// The gateway's end of the host channel: asks the worker that holds a host and waits for its answer (R5).
import type { Redis } from 'ioredis';
import type { HostClient, HostRequestName, HostRequests } from '#domain';
import { AppError, newId } from '#kernel';
import { fromWireError, type HostReplyMessage, readHostReply, readHostResponse } from './host-message.schema.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisSubscriber, Subscription } from './redis-subscriber.js';

export interface RedisHostClientOptions {
  /** A client of the role `commands`. */
  redis: Redis;
  subscriber: RedisSubscriber;
  keys: RedisKeys;
}

const DEFAULT_DEADLINE_MS = 5_000;
/** Between two tries while nobody listens, e.g. while a host passes from one worker to the next. */
const RETRY_MS = 150;

export class RedisHostClient implements HostClient {
  private readonly clientId = newId();
  private readonly waiting = new Map<string, (reply: HostReplyMessage) => void>();
  private replies: Promise<Subscription> | undefined;

  constructor(private readonly options: RedisHostClientOptions) {}

  async request<N extends HostRequestName>(
    hostId: string,
    name: N,
    payload: HostRequests[N]['request'],
    { deadlineMs = DEFAULT_DEADLINE_MS, correlationId = newId() }: { deadlineMs?: number; correlationId?: string } = {},
  ): Promise<HostRequests[N]['response']> {
    const expired = AbortSignal.timeout(deadlineMs);
    await this.listen(deadlineMs);
    const id = newId();
    const message = JSON.stringify({
      version: 1,
      id,
      replyTo: this.clientId,
      correlationId,
      deadlineMs,
      name,
      payload,
    });
    const reply = this.replyTo(id, expired);
    try {
      const [answer] = await Promise.all([reply, this.send(hostId, message, expired)]);
      if (!answer.outcome.ok) throw fromWireError(answer.outcome.error);
      return readHostResponse(name, answer.outcome.response);
    } finally {
      this.waiting.delete(id);
    }
  }

  async close(): Promise<void> {
    const replies = this.replies;
    this.replies = undefined;
    await (await replies)?.unsubscribe();
  }

  /** One channel for all answers to this client, opened with the first request. */
  private async listen(deadlineMs: number): Promise<void> {
    const { subscriber, keys } = this.options;
    this.replies ??= subscriber.subscribe(
      keys.hostReplies(this.clientId),
      (text) => {
        const reply = readHostReply(text);
        if (reply !== undefined) this.waiting.get(reply.id)?.(reply);
      },
      deadlineMs,
    );
    try {
      await this.replies;
    } catch (cause) {
      this.replies = undefined;
      throw unavailable(cause);
    }
  }

  private replyTo(id: string, expired: AbortSignal): Promise<HostReplyMessage> {
    return new Promise((resolve, reject) => {
      this.waiting.set(id, resolve);
      expired.addEventListener('abort', () => reject(unavailable()), { once: true });
    });
  }

  /** PUBLISH says how many listen: none means that nobody has seen the request, so it may be sent again. */
  private async send(hostId: string, message: string, expired: AbortSignal): Promise<void> {
    const { redis, keys } = this.options;
    let failure: unknown;
    while (!expired.aborted) {
      try {
        if ((await redis.publish(keys.hostRequests(hostId), message)) > 0) return;
      } catch (error) {
        failure = error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    throw unavailable(failure);
  }
}

const unavailable = (cause?: unknown): AppError =>
  new AppError('host.unavailable', 'The host of this project does not answer.', {
    retryAfterMs: 1_000,
    ...(cause === undefined ? {} : { cause }),
  });
