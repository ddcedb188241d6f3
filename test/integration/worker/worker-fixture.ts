// A worker in this process on real Postgres, Redis and Docker, with an instance of its own; and the gateway's side of the stores.
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dispatch, EventRecord, ProjectRecord, RunRecord, SandboxRuntime } from '#domain';
import { loadWorkerConfig } from '#config';
import {
  BullRunQueue,
  createRedis,
  RedisAnnouncer,
  RedisHostClient,
  redisKeys,
  RedisLiveBus,
  RedisSubscriber,
} from '#jobs';
import { isFinal } from '#domain';
import { newId } from '#kernel';
import { createLogger } from '#observability';
import {
  instanceId,
  PgEventStore,
  PgExecutionStore,
  PgHostStore,
  PgOutputStore,
  PgProjectStore,
  PgRunControl,
  PgRunStore,
  PgSessionStore,
  PgTokenStore,
} from '#persistence';
import { createDockerSandboxRuntime } from '#sandbox/docker';
import { createTestDatabase, type TestDatabase, testEnv, until } from '#testing';
import { bundleSandboxd } from '../sandbox/docker-sandbox.fixture.js';
import { createWorkerApp, type WorkerApp } from '../../../apps/worker/src/worker-app.js';

export interface FixtureOptions {
  /** More of the worker's environment. */
  env?: Record<string, string>;
  redisUrl?: string;
}

export interface CommandRequest {
  argv?: string[];
  shell?: string;
  lane?: string;
  timeoutMs?: number;
  workingDir?: string;
  stdin?: 'pipe';
}

export type WorkerFixture = Awaited<ReturnType<typeof createWorkerFixture>>;

const MIGRATIONS = join(process.cwd(), 'prisma', 'migrations');
const START_MS = 60_000;

/** What a worker process needs to know; the same for workers in this process and real ones. */
export function workerEnvironment(dataDir: string, databaseUrl: string, redisUrl: string): Record<string, string> {
  const { dockerSocket, sandboxImage, toolFiles } = testEnv();
  return {
    GANTRY_DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DOCKER_SOCKET: dockerSocket,
    SANDBOX_IMAGE: sandboxImage,
    SANDBOX_NODE_FILE: toolFiles.node,
    SANDBOX_CLAUDE_FILE: toolFiles.claude,
    SANDBOX_SANDBOXD_FILE: join(dataDir, 'sandboxd.cjs'),
    SANDBOX_MEMORY_MB: '512',
    SANDBOX_TMP_MB: '64',
    WORKER_PORT: '0',
    GANTRY_LEASE_MS: '1500',
    GANTRY_RECONCILE_MS: '500',
    LOG_LEVEL: 'info',
  };
}

export async function createWorkerFixture({ env = {}, redisUrl = testEnv().redisUrl }: FixtureOptions = {}) {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-worker-'));
  await mkdir(join(dataDir, 'projects'));
  await mkdir(join(dataDir, 'broker'));
  await bundleSandboxd(join(dataDir, 'sandboxd.cjs'));
  const environment = { ...workerEnvironment(dataDir, database.url, redisUrl), ...env };
  const instance = await instanceId(database.db);
  const edge = await openEdge(database, redisUrl, instance);
  const runtime = dockerRuntime(dataDir, instance);
  const workers: WorkerApp[] = [];
  const logs: string[] = [];

  return {
    ...edge,
    database,
    dataDir,
    environment,
    runtime,
    logs,
    /** Log lines of all workers of this fixture, parsed. */
    logged: () => logs.map((line) => JSON.parse(line) as Record<string, unknown>),
    startWorker: async (more: Record<string, string> = {}) => {
      const config = loadWorkerConfig({ ...environment, ...more });
      const destination = { write: (line: string) => void logs.push(line) };
      const logger = createLogger({ service: 'worker', level: 'debug', destination });
      const worker = createWorkerApp({ config, migrationsDir: MIGRATIONS, logger });
      workers.push(worker);
      const { port } = await worker.listen();
      return { ...worker, port, url: `http://127.0.0.1:${port}` };
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      for (const { sandboxId } of await runtime.list()) await runtime.remove(sandboxId, { data: true });
      await edge.closeEdge();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function dockerRuntime(dataDir: string, instance: string): SandboxRuntime {
  const { dockerSocket } = testEnv();
  const brokerSocketDir = join(dataDir, 'broker');
  const toolFiles = { ...testEnv().toolFiles, sandboxd: join(dataDir, 'sandboxd.cjs') };
  return createDockerSandboxRuntime({ dockerSocket, instanceId: instance, dataDir, toolFiles, brokerSocketDir });
}

/** What a gateway does with the same database and Redis. */
async function openEdge(database: TestDatabase, redisUrl: string, instance: string) {
  const { db } = database;
  const report = () => undefined;
  const keys = redisKeys(instance);
  const redis = createRedis(redisUrl, { name: 'test', role: 'commands', report });
  const subscriberClient = createRedis(redisUrl, { name: 'test', role: 'subscriber', report });
  const subscriber = new RedisSubscriber(subscriberClient, report);
  const bus = new RedisLiveBus({ redis, subscriber, keys, report });
  const queue = new BullRunQueue(redis, keys, report);
  const announcer = new RedisAnnouncer({ queue, bus, report });
  const hostClient = new RedisHostClient({ redis, subscriber, keys });
  const stores = {
    projects: new PgProjectStore(db),
    runs: new PgRunStore(db),
    control: new PgRunControl(db),
    sessions: new PgSessionStore(db),
    executions: new PgExecutionStore(db),
    events: new PgEventStore(db),
    outputs: new PgOutputStore(db),
    hosts: new PgHostStore(db),
  };
  const user = await new PgTokenStore(db).bootstrapAdmin(`gnt_${newId()}`);
  const host = () =>
    until('a worker holds the host', async () => (await stores.hosts.list()).find(({ held }) => held), START_MS);

  return {
    ...stores,
    user,
    redis,
    bus,
    queue,
    announcer,
    hostClient,
    keys,
    host,
    /** A project in a folder of its own. `hostId`: by default that of the worker, which must be there then. */
    project: async (dataDir: string, { hostId }: { hostId?: string } = {}): Promise<ProjectRecord> => {
      const projectId = newId();
      const path = join(dataDir, 'projects', projectId);
      await mkdir(path);
      await chown(path, 1000, 1000);
      const { result } = await stores.projects.create({
        projectId,
        userId: user.userId,
        hostId: hostId ?? (await host()).hostId,
        path,
        name: 'test',
        options: {},
      });
      return result;
    },
    command: async (projectId: string, request: CommandRequest): Promise<RunRecord> => {
      const { result, announcement } = await stores.runs.enqueueCommand({
        projectId,
        userId: user.userId,
        lane: request.lane ?? 'main',
        timeoutMs: request.timeoutMs ?? 60_000,
        correlationId: newId(),
        argv: request.argv ?? [],
        shellCommand: request.shell ?? null,
        workingDir: request.workingDir ?? null,
        ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
      });
      await announcer.announce(announcement);
      return result.run;
    },
    cancel: async (runId: string): Promise<RunRecord> => {
      const { result, announcement } = await stores.runs.cancel(runId, user.userId);
      await announcer.announce(announcement);
      return result;
    },
    /** Asks for it as a client does. */
    steer: async (how: 'interrupt' | 'pause' | 'resume', runId: string): Promise<RunRecord> => {
      const { result, announcement } = await stores.control[how](runId, user.userId);
      await announcer.announce(announcement);
      return result;
    },
    /** Writes to a command's stdin as a client does. */
    type: async (runId: string, inputSeq: number, text: string, eof = false): Promise<{ duplicate: boolean }> => {
      const data = Buffer.from(text);
      const { result, announcement } = await stores.control.input({ runId, userId: user.userId, inputSeq, data, eof });
      await announcer.announce(announcement);
      return result;
    },
    /** The run once it is over. */
    ended: (runId: string, deadlineMs?: number): Promise<RunRecord> =>
      until(
        `run ${runId} ends`,
        async () => {
          const run = await stores.runs.find(runId);
          return run !== undefined && isFinal(run.status) ? run : undefined;
        },
        deadlineMs,
      ),
    /** The run once it satisfies the condition. */
    when: (runId: string, condition: (run: RunRecord) => boolean): Promise<RunRecord> =>
      until(`run ${runId} gets there`, async () => {
        const run = await stores.runs.find(runId);
        return run !== undefined && condition(run) ? run : undefined;
      }),
    /** All stored output of a command, in order, by channel. */
    output: async (runId: string): Promise<{ stdout: string; stderr: string; all: string }> => {
      const chunks = await stores.outputs.read(runId, 0, 64 * 1024 * 1024);
      const text = (of: typeof chunks) => Buffer.concat(of.map(({ data }) => data)).toString('latin1');
      return {
        stdout: text(chunks.filter(({ channel }) => channel === 'stdout')),
        stderr: text(chunks.filter(({ channel }) => channel === 'stderr')),
        all: text(chunks),
      };
    },
    /** Once the stored output contains the text. */
    printed: async (runId: string, text: string): Promise<void> => {
      await until(`run ${runId} prints ${text}`, async () => {
        const chunks = await stores.outputs.read(runId, 0, 1024 * 1024);
        return Buffer.concat(chunks.map(({ data }) => data)).includes(text);
      });
    },
    eventsOf: async (projectId: string): Promise<EventRecord[]> =>
      (await stores.events.after(projectId, 0, { limit: 1_000, maxBytes: 64 * 1024 * 1024 })).events,
    dispatchOf: (run: RunRecord): Dispatch => ({
      runId: run.runId,
      hostId: run.hostId,
      projectId: run.projectId,
      dispatchNo: run.dispatchNo,
      correlationId: run.correlationId,
    }),
    closeEdge: async () => {
      redis.disconnect();
      subscriberClient.disconnect();
      await queue.close();
    },
  };
}
