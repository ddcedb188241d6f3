// Live frames over Redis pub/sub, and the unfinished messages that newcomers ask for (R16). Losing any of it is harmless.
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { DeltaFrame, LiveBus, LiveFrame } from '#domain';
import { AppError, type Clock, systemClock } from '#kernel';
import { decodeLiveFrame, deltaFrame, encodeLiveFrame } from './live-frame.schema.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisSubscriber, Subscription } from './redis-subscriber.js';
import type { ReportProblem } from './report-problem.port.js';

export interface RedisLiveBusOptions {
  /** A client of the role `commands`. */
  redis: Redis;
  subscriber: RedisSubscriber;
  keys: RedisKeys;
  report: ReportProblem;
  /** How long an unfinished message is kept after its last save, ms. */
  partialTtlMs?: number;
  clock?: Clock;
}

const DEFAULT_PARTIAL_TTL_MS = 10 * 60_000;
const savedPartial = z.object({ version: z.literal(1), savedAtMs: z.number(), blocks: z.array(deltaFrame) });

export class RedisLiveBus implements LiveBus {
  constructor(private readonly options: RedisLiveBusOptions) {}

  publish(projectId: string, frame: LiveFrame): void {
    this.send(this.options.keys.project(projectId), encodeLiveFrame(frame), 'live.publish');
  }

  subscribe(projectId: string, listener: (frame: LiveFrame) => void): Promise<Subscription> {
    return this.options.subscriber.subscribe(this.options.keys.project(projectId), (message) => {
      const frame = decodeLiveFrame(message);
      if (frame !== undefined) listener(frame);
      else this.options.report({ operation: 'live.decode', error: new Error('A live frame could not be read.') });
    });
  }

  onReconnect(listener: () => void): void {
    this.options.subscriber.onReconnect(listener);
  }

  /** One field per run and epoch, so that a worker that lost its run cannot overwrite its successor's. Never rejects. */
  async savePartial(projectId: string, runId: string, blocks: DeltaFrame[]): Promise<void> {
    const epoch = blocks[0]?.epoch;
    if (epoch === undefined) return this.clearPartial(projectId, runId);
    const { redis, keys, report, partialTtlMs = DEFAULT_PARTIAL_TTL_MS, clock = systemClock } = this.options;
    const value = JSON.stringify({ version: 1, savedAtMs: clock.now().getTime(), blocks });
    try {
      await redis
        .multi()
        .hset(keys.partials(projectId), fieldOf(runId, epoch), value)
        .pexpire(keys.partials(projectId), partialTtlMs)
        .exec();
    } catch (error) {
      report({ operation: 'live.save_partial', error });
    }
  }

  /** Never rejects. */
  async clearPartial(projectId: string, runId: string): Promise<void> {
    const { redis, keys, report } = this.options;
    const key = keys.partials(projectId);
    try {
      const fields = (await redis.hkeys(key)).filter((field) => runOf(field) === runId);
      if (fields.length > 0) await redis.hdel(key, ...fields);
    } catch (error) {
      report({ operation: 'live.clear_partial', error });
    }
  }

  /** Throws `service.unavailable`. */
  async partials(projectId: string): Promise<DeltaFrame[]> {
    const { redis, keys, partialTtlMs = DEFAULT_PARTIAL_TTL_MS, clock = systemClock } = this.options;
    let stored: Record<string, string>;
    try {
      stored = await redis.hgetall(keys.partials(projectId));
    } catch (cause) {
      throw new AppError('service.unavailable', 'Live updates cannot be reached.', { cause });
    }
    const oldestMs = clock.now().getTime() - partialTtlMs;
    const newest = new Map<string, DeltaFrame[]>();
    for (const [field, value] of Object.entries(stored)) {
      const blocks = readPartial(value, oldestMs);
      const epoch = blocks[0]?.epoch;
      if (epoch !== undefined && epoch >= (newest.get(runOf(field))?.[0]?.epoch ?? 0)) newest.set(runOf(field), blocks);
    }
    return [...newest.values()].flat();
  }

  wakeHost(hostId: string): void {
    this.send(this.options.keys.wake(hostId), '1', 'live.wake');
  }

  onWake(hostId: string, listener: () => void): Promise<Subscription> {
    return Promise.resolve(this.options.subscriber.listen(this.options.keys.wake(hostId), listener));
  }

  private send(channel: string, message: string, operation: string): void {
    this.options.redis.publish(channel, message).catch((error: unknown) => this.options.report({ operation, error }));
  }
}

const fieldOf = (runId: string, epoch: number): string => `${runId}/${epoch}`;
const runOf = (field: string): string => field.split('/', 1)[0] ?? field;

function readPartial(value: string, oldestMs: number): DeltaFrame[] {
  let json: unknown;
  try {
    json = JSON.parse(value);
  } catch {
    // Written by a version that this one cannot read: the finished message will come as an event.
    return [];
  }
  const parsed = savedPartial.safeParse(json);
  return parsed.success && parsed.data.savedAtMs >= oldestMs ? parsed.data.blocks : [];
}
