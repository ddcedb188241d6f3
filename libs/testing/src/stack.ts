// The whole product as real processes on the test services: gateway, worker, broker and demo model, with a database, an instance id
// and a data folder of their own, so that stacks run side by side.
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { instanceId } from '#persistence';
import { createDockerSandboxRuntime } from '#sandbox/docker';
import { freePort } from './redis-process.js';
import { spawnService, waitUntilReady, type ServiceName, type ServiceProcess } from './service-process.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { testEnv } from './test-env.js';

export interface StackOptions {
  /** More environment, for all services or for one. */
  env?: Record<string, string>;
  gatewayEnv?: Record<string, string>;
  workerEnv?: Record<string, string>;
  brokerEnv?: Record<string, string>;
  /** Start these only; by default all. */
  services?: ServiceName[];
}

export interface Stack {
  /** URL of the gateway. */
  url: string;
  workerUrl: string;
  modelUrl: string;
  adminToken: string;
  /** Projects are created beneath this folder. */
  projectRoot: string;
  dataDir: string;
  database: TestDatabase;
  service(name: ServiceName): ServiceProcess;
  /** Starts a service (again) with the same environment and waits until it is ready. */
  start(name: ServiceName): Promise<ServiceProcess>;
  /** Stops the services, removes containers, the database and the folder. */
  close(): Promise<void>;
}

/** How to start a service and how to ask whether it is ready. */
export interface ServicePlan {
  env: Record<string, string>;
  args?: string[];
  probe: { url?: string; socketPath?: string; path: string };
}

export interface PlanFacts {
  options: StackOptions;
  dataDir: string;
  tokenFile: string;
  databaseUrl: string;
  redisUrl: string;
  dockerSocket: string;
  ports: { gateway: number; worker: number; model: number };
}

const ORDER: ServiceName[] = ['demo-model', 'broker', 'worker', 'gateway'];

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const database = await createTestDatabase();
  const dataDir = join(process.cwd(), 'data-test', 'stacks', randomBytes(4).toString('hex'));
  const projectRoot = join(dataDir, 'projects');
  await mkdir(projectRoot, { recursive: true });
  const adminToken = `gnt_${randomBytes(32).toString('base64url')}`;
  const tokenFile = join(dataDir, 'admin-token');
  await writeFile(tokenFile, adminToken, { mode: 0o600 });
  const ports = { gateway: await freePort(), worker: await freePort(), model: await freePort() };
  const { redisUrl, dockerSocket } = testEnv();
  const plans = planServices({ options, dataDir, tokenFile, databaseUrl: database.url, redisUrl, dockerSocket, ports });
  const running = new Map<ServiceName, ServiceProcess>();

  const start = async (name: ServiceName): Promise<ServiceProcess> => {
    const { env, args, probe } = plans[name];
    const service = spawnService({ name, env, ...(args === undefined ? {} : { args }) });
    running.set(name, service);
    await waitUntilReady(service, probe);
    return service;
  };
  const close = async (): Promise<void> => {
    // For the worker this means "down for good": it stops the instance's containers.
    await running.get('worker')?.kill('SIGUSR2');
    await Promise.all([...running.values()].map((service) => service.kill('SIGTERM')));
    await removeSandboxes(database, plans.worker.env);
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    for (const name of ORDER.filter((each) => (options.services ?? ORDER).includes(each))) await start(name);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${ports.gateway}`,
    workerUrl: `http://127.0.0.1:${ports.worker}`,
    modelUrl: `http://127.0.0.1:${ports.model}`,
    adminToken,
    projectRoot,
    dataDir,
    database,
    service(name) {
      const service = running.get(name);
      if (service === undefined) throw new Error(`${name} was not started`);
      return service;
    },
    start,
    close,
  };
}

/** The containers of a stack, which is down by now, and their volumes: they would pile up on the engine. `env`: of its worker. */
export async function removeSandboxes(database: TestDatabase, env: Record<string, string>): Promise<void> {
  const { dockerSocket, toolFiles } = testEnv();
  const runtime = createDockerSandboxRuntime({
    dockerSocket,
    instanceId: await instanceId(database.db),
    dataDir: env['GANTRY_DATA_DIR'] ?? '',
    toolFiles,
    brokerSocketDir: dirname(env['BROKER_SOCKET'] ?? ''),
  });
  for (const { sandboxId } of await runtime.list()) await runtime.remove(sandboxId, { data: true });
}

/** Each service with the environment that it is given and nothing else. */
export function planServices(facts: PlanFacts): Record<ServiceName, ServicePlan> {
  const { options, dataDir, tokenFile, databaseUrl, redisUrl, dockerSocket, ports } = facts;
  const { sandboxImage, toolFiles } = testEnv();
  const modelKey = `demo-${randomBytes(16).toString('hex')}`;
  const brokerSocket = join(dataDir, 'broker', 'broker.sock');
  const shared = { GANTRY_DATA_DIR: dataDir, DATABASE_URL: databaseUrl, LOG_LEVEL: 'debug', ...options.env };
  return {
    'demo-model': {
      env: {},
      args: ['--port', String(ports.model), '--key', modelKey],
      probe: { url: `http://127.0.0.1:${ports.model}`, path: '/api/hello' },
    },
    broker: {
      env: {
        ...shared,
        BROKER_SOCKET: brokerSocket,
        ANTHROPIC_API_KEY: modelKey,
        GANTRY_MODEL_BASE_URL: `http://127.0.0.1:${ports.model}`,
        ...options.brokerEnv,
      },
      probe: { socketPath: brokerSocket, path: '/healthz' },
    },
    worker: {
      env: {
        ...shared,
        REDIS_URL: redisUrl,
        WORKER_PORT: String(ports.worker),
        DOCKER_SOCKET: dockerSocket,
        BROKER_SOCKET: brokerSocket,
        SANDBOX_IMAGE: sandboxImage,
        SANDBOX_NODE_FILE: toolFiles.node,
        SANDBOX_CLAUDE_FILE: toolFiles.claude,
        SANDBOX_SANDBOXD_FILE: toolFiles.sandboxd,
        // Tests that are not about spares count processes and containers of their own doing.
        GANTRY_SPARE_AGENTS: 'false',
        SANDBOX_MEMORY_MB: '1536',
        ...options.workerEnv,
      },
      probe: { url: `http://127.0.0.1:${ports.worker}`, path: '/readyz' },
    },
    gateway: {
      env: {
        ...shared,
        REDIS_URL: redisUrl,
        GATEWAY_PORT: String(ports.gateway),
        GANTRY_BOOTSTRAP_TOKEN_FILE: tokenFile,
        GANTRY_DEMO_MODEL: '1',
        GATEWAY_WEB_DIR: join(process.cwd(), 'dist', 'apps', 'web'),
        ...options.gatewayEnv,
      },
      probe: { url: `http://127.0.0.1:${ports.gateway}`, path: '/readyz' },
    },
  };
}
