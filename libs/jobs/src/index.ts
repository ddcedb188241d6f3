// Jobs through BullMQ, and what else travels through Redis: live frames, wake-ups, requests to hosts.
export { RedisAnnouncer, type RedisAnnouncerOptions } from './announcer.adapter.js';
export { BullRunQueue } from './bull-run-queue.adapter.js';
export { createRedis, isRedisReady, type RedisClientOptions, type RedisRole } from './create-redis.js';
export { RedisHostClient, type RedisHostClientOptions } from './host-client.adapter.js';
export { RedisHostServer, type RedisHostServerOptions } from './host-server.adapter.js';
export { parseRunJobId, readRunJob, RUN_JOB, type RunJobPayload, toRunJobPayload } from './job-catalogue.js';
export { RedisLiveBus, type RedisLiveBusOptions } from './live-bus.adapter.js';
export { MAX_FRAME_BYTES } from './live-frame.schema.js';
export { redisKeys, type RedisKeys } from './redis-keys.js';
export { RedisSubscriber, type Subscription } from './redis-subscriber.js';
export { limitReports, type Problem, type ReportProblem } from './report-problem.port.js';
export { createRunWorker, type RunJobProcessor, type RunWorker, type RunWorkerOptions } from './run-worker.js';
