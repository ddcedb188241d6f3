// Gateways on a database of their own, with a small host that speaks the real channel and writes to the real store.
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadGatewayConfig } from '#config';
import type { Announcement, Committed, HostLease, HostRequestHandlers, RunRecord } from '#domain';
import {
  BullRunQueue,
  createRedis,
  RedisAnnouncer,
  RedisHostServer,
  redisKeys,
  RedisLiveBus,
  RedisSubscriber,
} from '#jobs';
import { AppError, newId, type Role } from '#kernel';
import { createLogger } from '#observability';
import {
  hashToken,
  instanceId,
  PgExecutionStore,
  PgHostStore,
  PgOutputStore,
  PgPermissionStore,
  PgProjectStore,
  PgRunStore,
} from '#persistence';
import type { ClientData } from '#protocol';
import { createTestDatabase, SocketClient, type SocketClientOptions, type TestDatabase, testEnv } from '#testing';
import { openBackend } from '../../../apps/gateway/src/backend.js';
import { createGatewayApp, type GatewayApp } from '../../../apps/gateway/src/gateway-app.js';
import type { GatewayTuning } from '../../../apps/gateway/src/gateway-tuning.js';

export const ADMIN_TOKEN = 'gnt_admin-token-of-the-tests-0123456789';

export interface RunningGateway {
  app: GatewayApp;
  url: string;
  /** Its log, a parsed line each. */
  log: Record<string, unknown>[];
}

export interface GatewayOptions {
  env?: Record<string, string>;
  tuning?: Partial<GatewayTuning>;
  /** Resolve as soon as it listens, not when it is ready. */
  early?: boolean;
}

export class GatewayFixture {
  private readonly closers: (() => unknown)[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly root: string,
    readonly host: TestHost,
    private readonly tokenFile: string,
  ) {}

  static async create(): Promise<GatewayFixture> {
    const database = await createTestDatabase();
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'gantry-gateway-')));
    const root = join(folder, 'projects');
    await mkdir(root);
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, `${ADMIN_TOKEN}\n`, { mode: 0o600 });
    const host = await TestHost.start(database, root);
    const fixture = new GatewayFixture(database, root, host, tokenFile);
    fixture.closers.push(
      () => rm(folder, { recursive: true, force: true }),
      () => database.close(),
      () => host.close(),
    );
    return fixture;
  }

  /** Closed with the fixture, at the latest. */
  async gateway({ env = {}, tuning = {}, early = false }: GatewayOptions = {}): Promise<RunningGateway> {
    const config = loadGatewayConfig({
      DATABASE_URL: this.database.url,
      REDIS_URL: testEnv().redisUrl,
      GATEWAY_PORT: '0',
      GANTRY_BOOTSTRAP_TOKEN_FILE: this.tokenFile,
      ...env,
    });
    const log: Record<string, unknown>[] = [];
    const logger = createLogger({
      service: 'gateway',
      level: 'debug',
      destination: { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const backend = openBackend(config, { migrationsDir: join(process.cwd(), 'prisma', 'migrations'), logger });
    const app = createGatewayApp({
      config,
      backend,
      version: '0.0.0-test',
      logger,
      tuning: { tickMs: 200, drainSpreadMs: 100, retryMs: 50, processMetrics: false, ...tuning },
    });
    const { url } = await app.listen();
    this.closers.push(() => app.close());
    if (!early) await app.ready;
    return { app, url, log };
  }

  /** A client, closed with the fixture. The administrator's unless another token is given. */
  async client({ url }: { url: string }, options: SocketClientOptions = {}): Promise<SocketClient> {
    const client = await SocketClient.connect(url, { token: ADMIN_TOKEN, ...options });
    this.closers.push(() => client.close());
    return client;
  }

  /** Gives the token of a new user, who has a role in a project if one is named. */
  async user(grant?: { projectId: string; role: Role }): Promise<{ token: string; userId: string }> {
    const token = `gnt_${newId()}`;
    const userId = newId();
    await this.database.db.run(async ({ user, membership }) => {
      await user.create({
        data: {
          id: userId,
          name: `user-${userId}`,
          tokens: { create: { id: newId(), name: 't', prefix: 'gnt_', hash: hashToken(token) } },
        },
      });
      if (grant !== undefined)
        await membership.create({ data: { userId, projectId: grant.projectId, role: grant.role } });
    });
    return { token, userId };
  }

  project(client: SocketClient, name: string = newId()): Promise<ClientData<'project_create'>> {
    return client.call('project_create', { path: join(this.root, name) });
  }

  /** Holds the project's head as a transaction of somebody else would; gives back how to let go. */
  async lockProject(projectId: string): Promise<() => Promise<void>> {
    let release!: () => void;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let locked!: () => void;
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve;
    });
    const transaction = this.database.db.transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM project_head WHERE project_id = ${projectId}::uuid FOR UPDATE`;
      locked();
      await released;
    });
    await isLocked;
    return async () => {
      release();
      await transaction;
    };
  }

  async close(): Promise<void> {
    for (const close of this.closers.reverse()) await close();
  }
}

/** The worker's side of the wire and of the store, without a sandbox: it answers the channel and writes what a run would. */
export class TestHost {
  readonly execution: PgExecutionStore;
  readonly runs: PgRunStore;
  readonly outputs: PgOutputStore;
  readonly permissions: PgPermissionStore;
  /** When set, nothing that is committed is told to anyone. */
  silent = false;
  handlers: Partial<HostRequestHandlers> = {};
  private serving: { close(): Promise<void> } | undefined;

  private constructor(
    private readonly database: TestDatabase,
    readonly lease: HostLease,
    private readonly wire: Wire,
  ) {
    this.execution = new PgExecutionStore(database.db);
    this.runs = new PgRunStore(database.db);
    this.outputs = new PgOutputStore(database.db);
    this.permissions = new PgPermissionStore(database.db);
  }

  static async start(database: TestDatabase, root: string): Promise<TestHost> {
    const lease = await new PgHostStore(database.db).acquire({
      engineId: newId(),
      holderId: newId(),
      leaseMs: 3_600_000,
      maxRuns: 4,
      projectRoots: [root],
      info: {},
    });
    if (lease === undefined) throw new Error('the lease was not given');
    const host = new TestHost(database, lease, openWire(await instanceId(database.db)));
    await host.serve();
    return host;
  }

  get bus(): RedisLiveBus {
    return this.wire.bus;
  }

  async serve(): Promise<void> {
    const projects = new PgProjectStore(this.database.db);
    this.serving = await this.wire.server.serve(this.lease.hostId, {
      'project.prepare_path': async (request) =>
        this.handlers['project.prepare_path']?.(request) ?? prepare(request.path),
      'project.wake': async (request) => this.handlers['project.wake']?.(request) ?? {},
      'project.remove': async (request) => {
        if (this.handlers['project.remove'] !== undefined) return this.handlers['project.remove'](request);
        await projects.finishDelete(request.projectId);
        return { removed: true };
      },
    });
  }

  /** Nobody answers the channel any more. */
  async leave(): Promise<void> {
    await this.serving?.close();
    this.serving = undefined;
  }

  async tell<T>({ result, announcement }: Committed<T>): Promise<T> {
    if (!this.silent) await this.announce(announcement);
    return result;
  }

  announce(announcement: Announcement): Promise<void> {
    return this.wire.announcer.announce(announcement);
  }

  /** Takes a dispatched run as a worker would. */
  async claim(runId: string): Promise<RunRecord> {
    const run = await this.runs.find(runId);
    if (run === undefined) throw new Error('no such run');
    const claimed = await this.execution.claim({ runId, dispatchNo: run.dispatchNo }, this.lease);
    if (claimed === undefined) throw new Error(`run ${runId} cannot be claimed (${run.status})`);
    return (await this.tell(claimed)).run;
  }

  /** Appends `count` events of a claimed run. */
  async append(run: RunRecord, count: number, text = 'x'): Promise<void> {
    const events = Array.from({ length: count }, (_, index) => ({
      type: 'message.system' as const,
      runId: run.runId,
      payload: { subtype: 'test', text: `${text}${index}` },
    }));
    await this.tell(await this.execution.appendEvents({ runId: run.runId, runEpoch: run.epoch }, events));
  }

  /** Starts a process for a claimed command, so that it can write output. */
  async startProcess(run: RunRecord, bounds: { maxOutputBytes?: number } = {}): Promise<CommandWriter> {
    const fence = { runId: run.runId, runEpoch: run.epoch };
    const sandbox = await this.database.db.run(({ sandbox: table }) =>
      table.findFirstOrThrow({ where: { projectId: run.projectId } }),
    );
    const process = await this.execution.beginProcess(fence, {
      processId: newId(),
      sandboxId: sandbox.id,
      sessionId: null,
      kind: 'command',
      fingerprint: 'f',
      tokenHash: null,
    });
    const writing = { ...fence, processId: process.processId, processEpoch: process.epoch, ...bounds };
    return new CommandWriter(this, writing, run);
  }

  async finish(run: RunRecord, exitCode = 0): Promise<void> {
    const outcome = { status: 'succeeded' as const, exitCode, activeMs: 5 };
    await this.tell(await this.execution.finish({ runId: run.runId, runEpoch: run.epoch }, outcome));
    const headOffset = (await this.outputs.head(run.runId))?.headOffset ?? 0;
    if (!this.silent && run.kind === 'command') this.output(run, headOffset, true);
  }

  output(run: RunRecord, headOffset: number, ended: boolean): void {
    this.bus.publish(run.projectId, {
      kind: 'output',
      output: { projectId: run.projectId, runId: run.runId, headOffset, ended },
    });
  }

  async close(): Promise<void> {
    await this.leave();
    await this.wire.close();
  }
}

/** Writes a command's output as its driver would. */
export class CommandWriter {
  private offset = 0;

  constructor(
    private readonly host: TestHost,
    private readonly fence: {
      runId: string;
      runEpoch: number;
      processId: string;
      processEpoch: number;
      maxOutputBytes?: number;
    },
    private readonly run: RunRecord,
  ) {}

  get processId(): string {
    return this.fence.processId;
  }

  async write(data: Uint8Array | string, channel: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const committed = await this.host.execution.commitOutput({
      ...this.fence,
      fromOffset: this.offset,
      toOffset: this.offset + bytes.length,
      chunks: [{ offset: this.offset, channel, data: bytes }],
      events: [],
      activeMs: 1,
    });
    this.offset += bytes.length;
    await this.host.tell(committed);
    if (!this.host.silent) this.host.output(this.run, this.offset, false);
  }
}

interface Wire {
  bus: RedisLiveBus;
  announcer: RedisAnnouncer;
  server: RedisHostServer;
  close(): Promise<void>;
}

function openWire(instance: string): Wire {
  const problems: unknown[] = [];
  const report = (problem: unknown) => void problems.push(problem);
  const redis = createRedis(testEnv().redisUrl, { name: 'test-host', role: 'commands', report });
  const subscriberRedis = createRedis(testEnv().redisUrl, { name: 'test-host', role: 'subscriber', report });
  const subscriber = new RedisSubscriber(subscriberRedis, report);
  const keys = redisKeys(instance);
  const bus = new RedisLiveBus({ redis, subscriber, keys, report });
  const queue = new BullRunQueue(redis, keys, report);
  return {
    bus,
    announcer: new RedisAnnouncer({ queue, bus, report }),
    server: new RedisHostServer({ redis, subscriber, keys, report }),
    close: async () => {
      await queue.close();
      redis.disconnect();
      subscriberRedis.disconnect();
    },
  };
}

async function prepare(path: string): Promise<{ realPath: string; created: boolean }> {
  const made = await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    throw new AppError('project.path_not_directory', 'There is something else at this path.', { cause });
  });
  if (!(await stat(path)).isDirectory()) throw new AppError('project.path_not_directory', 'Not a folder.');
  return { realPath: await realpath(path), created: made !== undefined };
}
