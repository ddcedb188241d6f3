// Channels that stay subscribed over reconnections, many listeners on each. One Redis connection carries them all.
import type { Redis } from 'ioredis';
import { AppError } from '#kernel';
import { isRedisReady } from './create-redis.js';
import type { ReportProblem } from './report-problem.port.js';

export type MessageListener = (message: string) => void;
export interface Subscription {
  unsubscribe(): Promise<void>;
}

interface Channel {
  listeners: Set<MessageListener>;
  /** Subscribed on the present connection. */
  standing: boolean;
  waiters: Set<() => void>;
}

const SUBSCRIBE_DEADLINE_MS = 5_000;

export class RedisSubscriber {
  private readonly channels = new Map<string, Channel>();
  private readonly reconnectListeners = new Set<() => void>();
  private connections = 0;

  /** `redis`: a client of the role `subscriber`, used for nothing else. */
  constructor(
    private readonly redis: Redis,
    private readonly report: ReportProblem,
  ) {
    redis.on('message', (name: string, message: string) => this.deliver(name, message));
    redis.on('close', () => {
      for (const channel of this.channels.values()) channel.standing = false;
    });
    redis.on('ready', () => void this.restore());
    if (isRedisReady(redis)) void this.restore();
  }

  /** Resolves when the subscription stands. Throws `service.unavailable` if Redis is away for longer than the deadline. */
  async subscribe(
    name: string,
    listener: MessageListener,
    deadlineMs: number = SUBSCRIBE_DEADLINE_MS,
  ): Promise<Subscription> {
    const channel = this.channelOf(name);
    channel.listeners.add(listener);
    const subscription = { unsubscribe: () => this.leave(name, channel, listener) };
    if (await this.stands(channel, deadlineMs)) return subscription;
    await subscription.unsubscribe();
    throw new AppError('service.unavailable', 'Live updates cannot be reached.');
  }

  /** Like `subscribe`, but does not wait: for those who must listen whenever Redis is there. */
  listen(name: string, listener: MessageListener): Subscription {
    const channel = this.channelOf(name);
    channel.listeners.add(listener);
    return { unsubscribe: () => this.leave(name, channel, listener) };
  }

  /** Called after each connection but the first, once every channel stands again: messages may have been missed. */
  onReconnect(listener: () => void): Subscription {
    this.reconnectListeners.add(listener);
    return {
      unsubscribe: async () => {
        this.reconnectListeners.delete(listener);
      },
    };
  }

  private deliver(name: string, message: string): void {
    for (const listener of this.channels.get(name)?.listeners ?? []) {
      try {
        listener(message);
      } catch (error) {
        this.report({ operation: 'redis.listener', error });
      }
    }
  }

  private channelOf(name: string): Channel {
    const known = this.channels.get(name);
    if (known !== undefined) return known;
    const channel: Channel = { listeners: new Set(), standing: false, waiters: new Set() };
    this.channels.set(name, channel);
    if (isRedisReady(this.redis)) void this.request(name, channel);
    return channel;
  }

  /** A failed request needs no retry of its own: the connection is gone, and `restore` asks again on the next one. */
  private async request(name: string, channel: Channel): Promise<boolean> {
    try {
      await this.redis.subscribe(name);
    } catch (error) {
      if (isRedisReady(this.redis)) {
        this.report({ operation: 'redis.subscribe', error });
        // A server that is reachable but does not answer: a new connection starts afresh.
        this.redis.disconnect(true);
      }
      return false;
    }
    channel.standing = isRedisReady(this.redis);
    if (channel.standing) for (const resolve of channel.waiters) resolve();
    return channel.standing;
  }

  private async stands(channel: Channel, deadlineMs: number): Promise<boolean> {
    if (channel.standing) return true;
    return new Promise<boolean>((resolve) => {
      const settle = (value: boolean) => {
        clearTimeout(timer);
        channel.waiters.delete(done);
        resolve(value);
      };
      const done = () => settle(true);
      const timer = setTimeout(() => settle(false), deadlineMs);
      channel.waiters.add(done);
    });
  }

  private async restore(): Promise<void> {
    const restored = await Promise.all([...this.channels].map(([name, channel]) => this.request(name, channel)));
    if (restored.includes(false)) return;
    this.connections += 1;
    if (this.connections === 1) return;
    for (const listener of this.reconnectListeners) {
      try {
        listener();
      } catch (error) {
        this.report({ operation: 'redis.reconnect_listener', error });
      }
    }
  }

  private async leave(name: string, channel: Channel, listener: MessageListener): Promise<void> {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || this.channels.get(name) !== channel) return;
    this.channels.delete(name);
    if (!isRedisReady(this.redis)) return;
    try {
      await this.redis.unsubscribe(name);
    } catch (error) {
      this.report({ operation: 'redis.unsubscribe', error });
    }
  }
}
