// Puts dispatched runs into the BullMQ queue of their host, and lets the reconciler compare that queue with Postgres (R2, R3).
import { type JobType, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Dispatch } from '#domain';
import { AppError } from '#kernel';
import { isRedisReady } from './create-redis.js';
import { RUN_JOB, toRunJobPayload } from './job-catalogue.js';
import type { RedisKeys } from './redis-keys.js';
import type { ReportProblem } from './report-problem.port.js';

const PENDING: JobType[] = ['wait', 'active', 'prioritized', 'delayed', 'waiting-children'];

export class BullRunQueue {
  private readonly queues = new Map<string, Queue>();

  /** `redis`: a client of the role `commands`; it stays the caller's to close. */
  constructor(
    private readonly redis: Redis,
    private readonly keys: RedisKeys,
    private readonly report: ReportProblem,
  ) {}

  /** Idempotent while the job exists. Throws `service.unavailable` at once while Redis is away. */
  async dispatch(dispatch: Dispatch): Promise<void> {
    await this.withRedis(dispatch.hostId, (queue) =>
      queue.add(RUN_JOB.name, toRunJobPayload(dispatch), { jobId: RUN_JOB.jobId(dispatch), ...RUN_JOB.retention }),
    );
  }

  /** Ids of the jobs of a host that wait or are being worked on. Throws `service.unavailable`. */
  async jobIds(hostId: string): Promise<string[]> {
    return this.withRedis(hostId, (queue) => queue.getRanges(PENDING));
  }

  /** Removes a job that nobody works on; false when a worker holds it. Unknown ids count as removed. Throws `service.unavailable`. */
  async drop(hostId: string, jobId: string): Promise<boolean> {
    return this.withRedis(hostId, async (queue) => (await queue.remove(jobId)) === 1);
  }

  async close(): Promise<void> {
    const queues = [...this.queues.values()];
    this.queues.clear();
    await Promise.all(queues.map((queue) => queue.close()));
  }

  private async withRedis<T>(hostId: string, action: (queue: Queue) => Promise<T>): Promise<T> {
    if (!isRedisReady(this.redis)) throw new AppError('service.unavailable', 'The queue cannot be reached.');
    try {
      return await action(this.queueOf(hostId));
    } catch (cause) {
      throw new AppError('service.unavailable', 'The queue did not answer.', { cause });
    }
  }

  private queueOf(hostId: string): Queue {
    const known = this.queues.get(hostId);
    if (known !== undefined) return known;
    const queue = new Queue(RUN_JOB.queueName(hostId), { connection: this.redis, prefix: this.keys.bullPrefix });
    queue.on('error', (error) => this.report({ operation: 'queue.error', error, context: { host_id: hostId } }));
    this.queues.set(hostId, queue);
    return queue;
  }
}
