// A private stack to be hurt: several gateways and workers on one engine, its own Redis, a database of its own, each behind a proxy that
// misbehaves on request. Everything that it starts it takes down again; everything else it leaves alone.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTestDatabase,
  FaultProxy,
  freePort,
  planServices,
  type RedisProcess,
  removeSandboxes,
  type ServicePlan,
  spawnService,
  startRedisProcess,
  type TestDatabase,
  testEnv,
  until,
  waitUntilReady,
} from '#testing';
import { checkout } from '../../ops/checkout.ts';
import type { Seeded } from '../seeded.ts';
import { holderAmong, type Instance, type Tenure } from './instances.ts';
import { LiveSocket, type LiveSocketOptions } from './live-socket.ts';
import type { PostgresProcess } from './postgres-process.ts';

export interface ChaosStackOptions {
  gateways?: number;
  workers?: number;
  /** Broker and demo model too, so that prompts can be run. */
  agents?: boolean;
  workerEnv?: Record<string, string>;
  gatewayEnv?: Record<string, string>;
}

type Kind = 'gateway' | 'worker';
const PORT_OPTION: Record<Kind, string> = { gateway: 'GATEWAY_PORT', worker: 'WORKER_PORT' };
const TAKE_OVER_MS = 60_000;

type Ways = Record<'postgres' | 'redis' | 'docker', FaultProxy>;

interface Parts {
  postgres: PostgresProcess;
  redis: RedisProcess;
  database: TestDatabase;
  ways: Ways;
  dataDir: string;
  adminToken: string;
  plans: Record<string, ServicePlan>;
  random: Seeded;
}

export class ChaosStack {
  /** In the order of their starts, also those that are gone. */
  readonly gateways: Instance[] = [];
  readonly workers: Instance[] = [];
  readonly projectRoot: string;
  readonly #parts: Parts;
  readonly #others: Instance[] = [];
  readonly #sockets: LiveSocket[] = [];
  readonly #ownWays: FaultProxy[] = [];

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.projectRoot = join(parts.dataDir, 'projects');
  }

  static async start(options: ChaosStackOptions & { postgres: PostgresProcess; random: Seeded }): Promise<ChaosStack> {
    const { postgres, random, gateways = 1, workers = 2, agents = false, workerEnv = {}, gatewayEnv = {} } = options;
    const database = await createTestDatabase(postgres.url);
    const redis = await startRedisProcess();
    const dataDir = join(checkout, 'data-test', 'stacks', randomBytes(4).toString('hex'));
    for (const folder of ['projects', 'broker']) mkdirSync(join(dataDir, folder), { recursive: true });
    const adminToken = `gnt_${randomBytes(32).toString('base64url')}`;
    const tokenFile = join(dataDir, 'admin-token');
    writeFileSync(tokenFile, adminToken, { mode: 0o600 });
    const ways = await openWays({ databaseUrl: database.url, redisUrl: redis.url, dataDir, random });
    const plans = planServices({
      options: { env: { LOG_LEVEL: 'info' }, workerEnv: { SANDBOX_MEMORY_MB: '1024', ...workerEnv }, gatewayEnv },
      dataDir,
      tokenFile,
      databaseUrl: through(database.url, ways.postgres),
      redisUrl: through(redis.url, ways.redis),
      dockerSocket: join(dataDir, 'docker.sock'),
      ports: { gateway: 0, worker: 0, model: await freePort() },
    });
    const stack = new ChaosStack({ postgres, redis, database, ways, dataDir, adminToken, plans, random });
    try {
      if (agents) await Promise.all([stack.startOther('demo-model'), stack.startOther('broker')]);
      const services = [
        ...Array.from({ length: workers }, () => stack.startWorker()),
        ...Array.from({ length: gateways }, () => stack.startGateway()),
      ];
      await Promise.all(services);
      await stack.holder();
    } catch (error) {
      await stack.close();
      throw error;
    }
    return stack;
  }

  /** Reached directly, not through the proxy. */
  get database(): TestDatabase {
    return this.#parts.database;
  }

  get redis(): RedisProcess {
    return this.#parts.redis;
  }

  /** The proxies between the services and what they need. */
  get ways(): Ways {
    return this.#parts.ways;
  }

  get adminToken(): string {
    return this.#parts.adminToken;
  }

  /** Starts one more; resolves when it is ready. */
  startWorker(env: Record<string, string> = {}): Promise<Instance> {
    return this.#startInstance('worker', env, this.workers);
  }

  startGateway(env: Record<string, string> = {}): Promise<Instance> {
    return this.#startInstance('gateway', env, this.gateways);
  }

  /** A way to Redis of its own for services that are started with `env`. */
  async redisWay(): Promise<{ proxy: FaultProxy; env: Record<string, string> }> {
    const { redis, random } = this.#parts;
    const proxy = await tcpWay(redis.url, random.fork(`way/own/${this.#ownWays.length}`));
    this.#ownWays.push(proxy);
    return { proxy, env: { REDIS_URL: through(redis.url, proxy) } };
  }

  /** Sends the signal and resolves when the process is gone; gives its exit code. */
  async kill(instance: Instance, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    instance.alive = false;
    return instance.process.kill(signal);
  }

  async killOther(name: 'demo-model' | 'broker'): Promise<void> {
    await Promise.all(this.#others.filter((each) => each.name === name && each.alive).map((each) => this.kill(each)));
  }

  /** Who holds the host with a newer lease than `afterEpoch`, once somebody does. */
  holder(afterEpoch = 0): Promise<Tenure> {
    return until(
      'a worker takes the host',
      () => {
        const tenure = holderAmong(this.workers);
        return tenure !== undefined && tenure.epoch > afterEpoch ? tenure : undefined;
      },
      TAKE_OVER_MS,
    );
  }

  urls(): string[] {
    return this.gateways.filter(({ alive }) => alive).map(({ url }) => url);
  }

  /** A client of the administrator's, at any of the gateways that live, or where `options` say. */
  socket(name: string, options: Partial<LiveSocketOptions> = {}): LiveSocket {
    const random = this.#parts.random.fork(name);
    const socket = new LiveSocket({ urls: () => this.urls(), token: this.adminToken, random, ...options });
    this.#sockets.push(socket);
    return socket;
  }

  /** Every log line of every process, by the process's name. */
  logs(): Map<string, string[]> {
    const all = [...this.#others, ...this.workers, ...this.gateways];
    return new Map(all.map(({ name, process }) => [name, process.lines]));
  }

  async close(): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => socket.close()));
    await Promise.all([...this.gateways, ...this.workers, ...this.#others].map((each) => this.kill(each)));
    const { postgres, redis, database, ways, plans, dataDir } = this.#parts;
    await Promise.all([...Object.values(ways), ...this.#ownWays].map((way) => way.close()));
    await postgres.start();
    await removeSandboxes(database, plans['worker']?.env ?? {});
    await database.close();
    await redis.close();
    rmSync(dataDir, { recursive: true, force: true });
  }

  async #startInstance(kind: Kind, env: Record<string, string>, list: Instance[]): Promise<Instance> {
    const port = await freePort();
    const name = `${kind}-${list.length + 1}`;
    const planned = this.#parts.plans[kind]?.env ?? {};
    const all = { ...planned, [PORT_OPTION[kind]]: String(port), ...env };
    const databaseUrl = named(all['DATABASE_URL'] ?? '', name);
    const process = spawnService({ name: kind, env: { ...all, DATABASE_URL: databaseUrl } });
    const instance: Instance = { name, url: `http://127.0.0.1:${port}`, process, alive: true };
    list.push(instance);
    void process.exited.then(() => (instance.alive = false));
    await waitUntilReady(process, { url: instance.url, path: '/readyz' });
    return instance;
  }

  /** Starts the demo model or the broker (again). */
  async startOther(name: 'demo-model' | 'broker'): Promise<void> {
    const plan = this.#parts.plans[name];
    if (plan === undefined) throw new Error(`${name} has no plan`);
    const args = plan.args === undefined ? {} : { args: plan.args };
    const process = spawnService({ name, env: plan.env, ...args });
    this.#others.push({ name, url: plan.probe.url ?? '', process, alive: true });
    await waitUntilReady(process, plan.probe);
  }
}

async function openWays(facts: {
  databaseUrl: string;
  redisUrl: string;
  dataDir: string;
  random: Seeded;
}): Promise<Ways> {
  const random = facts.random.fork('way/docker');
  return {
    postgres: await tcpWay(facts.databaseUrl, facts.random.fork('way/postgres')),
    redis: await tcpWay(facts.redisUrl, facts.random.fork('way/redis')),
    docker: await FaultProxy.start({
      listen: { path: join(facts.dataDir, 'docker.sock') },
      target: { path: testEnv().dockerSocket },
      random: () => random.next(),
    }),
  };
}

function tcpWay(url: string, random: Seeded): Promise<FaultProxy> {
  const { hostname, port } = new URL(url);
  const target = { host: hostname, port: Number(port) };
  return FaultProxy.start({ listen: { port: 0 }, target, random: () => random.next() });
}

/** The same address by way of a proxy. */
function through(address: string, { port }: FaultProxy): string {
  const url = new URL(address);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.toString();
}

/** Connections that carry the name of who made them, for the audit. */
function named(address: string, name: string): string {
  const url = new URL(address);
  url.searchParams.set('application_name', name);
  return url.toString();
}
