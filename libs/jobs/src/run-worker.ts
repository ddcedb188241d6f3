// The worker's end of the queue: hands each delivered run to a processor. Delivery is at least once (R2).
import { UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Dispatch } from '#domain';
import { readRunJob, RUN_JOB } from './job-catalogue.js';
import type { RedisKeys } from './redis-keys.js';
import type { ReportProblem } from './report-problem.port.js';

/**
 * Three plain parameters: BullMQ makes the signal only for a processor whose `length` is 3. A rejection says nothing about the
 * run (R2); it is reported and the job dropped.
 */
export type RunJobProcessor = (
  dispatch: Dispatch,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<void>;

export interface RunWorkerOptions {
  hostId: string;
  /** A client of the role `queue`; it is closed with the worker. */
  redis: Redis;
  keys: RedisKeys;
  process: RunJobProcessor;
  report: ReportProblem;
  /** How long a job of a worker that died stays locked, ms. */
  lockMs?: number;
}

export interface RunWorker {
  /** Takes no further job and leaves those at work where they are, to be delivered again. Returns within `deadlineMs` also when Redis is away. */
  close(deadlineMs?: number): Promise<void>;
}

const DEFAULT_LOCK_MS = 10_000;
/** The host's own limit decides how many runs work; waiting and paused ones hold a job too, so this is no limit at all. */
const CONCURRENCY = 10_000;
/** BullMQ fails a job that stalled too often; here none ever has (R2). */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

export function createRunWorker(options: RunWorkerOptions): RunWorker {
  const { hostId, redis, keys, process, report, lockMs = DEFAULT_LOCK_MS } = options;
  const connections = trackConnections(redis, report);
  const worker = new Worker(
    RUN_JOB.queueName(hostId),
    async (job, token, signal) => {
      const dispatch = readRunJob(job.data);
      if (dispatch === undefined) throw new UnrecoverableError(`The payload of job ${job.id ?? '?'} cannot be read.`);
      await process(dispatch, token, signal);
    },
    {
      connection: redis,
      prefix: keys.bullPrefix,
      concurrency: CONCURRENCY,
      lockDuration: lockMs,
      stalledInterval: Math.ceil(lockMs / 2),
      maxStalledCount: UNLIMITED,
      drainDelay: 2,
      runRetryDelay: 500,
    },
  );
  const reporter = (operation: string) => (error: unknown) =>
    report({ operation, error, context: { host_id: hostId } });
  worker.on('error', reporter('queue.worker'));
  worker.on('failed', (job, error) => {
    report({ operation: 'queue.job', error, context: { host_id: hostId, job_id: job?.id } });
  });
  return {
    close: async (deadlineMs = 1_000) => {
      // Without Redis BullMQ's close never ends (measured): the connections are cut at the deadline.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([worker.close(true).catch(reporter('queue.close')), late]);
      clearTimeout(timer);
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** The client and the copies that BullMQ makes of it, so that all of them can be cut. */
function trackConnections(redis: Redis, report: ReportProblem): Redis[] {
  const connections = [redis];
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => {
    const copy = duplicate(override);
    copy.on('error', (error) => report({ operation: 'queue.connection', error }));
    connections.push(copy);
    return copy;
  };
  return connections;
}
