// The worker's connections to Redis, and what of it goes through them.
import type { Announcer, HostServer, LiveBus } from '#domain';
import {
  BullRunQueue,
  createRedis,
  createRunWorker,
  isRedisReady,
  RedisAnnouncer,
  RedisHostServer,
  redisKeys,
  RedisLiveBus,
  RedisSubscriber,
  type ReportProblem,
  type RunJobProcessor,
  type RunWorker,
} from '#jobs';

export interface WorkerRedis {
  isReady(): boolean;
  /** Keys carry the instance id, which is in Postgres (R19). */
  open(instanceId: string): {
    bus: LiveBus;
    queue: BullRunQueue;
    announcer: Announcer;
    hostServer: HostServer;
    takeJobs(hostId: string, process: RunJobProcessor): RunWorker;
  };
  close(): Promise<void>;
}

/** Starts to connect and returns at once: Redis may come later than this process. */
export function openRedis(url: string, report: ReportProblem): WorkerRedis {
  const client = (role: 'commands' | 'subscriber' | 'queue') => createRedis(url, { name: 'worker', role, report });
  const commands = client('commands');
  const subscriberClient = client('subscriber');
  const queues: BullRunQueue[] = [];
  return {
    isReady: () => isRedisReady(commands) && isRedisReady(subscriberClient),
    open: (instanceId) => {
      const keys = redisKeys(instanceId);
      const subscriber = new RedisSubscriber(subscriberClient, report);
      const bus = new RedisLiveBus({ redis: commands, subscriber, keys, report });
      const queue = new BullRunQueue(commands, keys, report);
      queues.push(queue);
      return {
        bus,
        queue,
        announcer: new RedisAnnouncer({ queue, bus, report }),
        hostServer: new RedisHostServer({ redis: commands, subscriber, keys, report }),
        takeJobs: (hostId, process) => createRunWorker({ hostId, redis: client('queue'), keys, process, report }),
      };
    },
    close: async () => {
      commands.disconnect();
      subscriberClient.disconnect();
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}
