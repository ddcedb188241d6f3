// Gantry's own services as the supervisor runs them: each with an environment of its own, so that only the broker has model keys (OPS-11).
import { join } from 'node:path';
import type { Environment } from '#config';
import { checkout } from '../checkout.ts';
import { shortHash, type DataLayout } from '../data-layout.ts';
import type { ToolFiles } from '../engine/tool-cache.ts';
import type { ServiceSpec } from '../supervisor/service-spec.ts';

export interface ServicePlan {
  layout: DataLayout;
  databaseUrl: string;
  redisUrl: string;
  dockerSocket: string;
  sandboxImage: string;
  tools: ToolFiles;
  projectRoots: readonly string[];
  gateway: { host: string; port: number };
  worker: { host: string; port: number };
  /** The demo model, when answers come from it. */
  demo: { port: number; key: string } | undefined;
  /** Identifies the built code. */
  version: string;
}

/** The part of an environment that a program may be given: `environmentFor` of libs/config. */
export type EnvironmentOf = (program: 'gateway' | 'worker' | 'broker') => Record<string, string>;

const WORKER_STOP_MS = 20_000;

/** In the order in which they are started. `given`: the user's environment, cut to what each program reads. */
export function ownServices(plan: ServicePlan, given: EnvironmentOf, base: Record<string, string>): ServiceSpec[] {
  const service = (name: string, script: string, env: Record<string, string>, args: string[] = []): ServiceSpec => ({
    name,
    argv: [process.execPath, '--enable-source-maps', join(checkout, 'dist', script), ...args],
    env: { ...base, NODE_ENV: 'production', ...env },
    cwd: plan.layout.root,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: WORKER_STOP_MS,
    version: plan.version,
  });
  const { demo, layout } = plan;
  const demoArguments = demo && ['--port', String(demo.port), '--key-file', layout.demoModelKey];
  return [
    ...(demoArguments
      ? [
          {
            ...service('demo-model', 'libs/testing/src/model-stand-in/main.js', {}, demoArguments),
            version: `${plan.version} ${shortHash(demo.key)}`, // the file's content is not part of the command line
          },
        ]
      : []),
    {
      ...service('broker', 'apps/broker/src/main.js', { ...given('broker'), ...brokerSettings(plan) }),
      takesOver: plan.layout.brokerSocket,
    },
    service('worker', 'apps/worker/src/main.js', { ...given('worker'), ...workerSettings(plan) }),
    service('gateway', 'apps/gateway/src/main.js', { ...given('gateway'), ...gatewaySettings(plan) }),
  ];
}

function brokerSettings({ layout, databaseUrl, demo }: ServicePlan): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    GANTRY_DATA_DIR: layout.root,
    BROKER_SOCKET: layout.brokerSocket,
    ...(demo
      ? {
          GANTRY_MODEL_BASE_URL: `http://127.0.0.1:${demo.port}`,
          ANTHROPIC_API_KEY: demo.key,
          CLAUDE_CODE_OAUTH_TOKEN: '', // the user's is not for the demo model
        }
      : {}),
  };
}

function workerSettings(plan: ServicePlan): Record<string, string> {
  return {
    DATABASE_URL: plan.databaseUrl,
    REDIS_URL: plan.redisUrl,
    GANTRY_DATA_DIR: plan.layout.root,
    GANTRY_PROJECT_ROOTS: plan.projectRoots.join(':'),
    WORKER_HOST: plan.worker.host,
    WORKER_PORT: String(plan.worker.port),
    DOCKER_SOCKET: plan.dockerSocket,
    DOCKER_HOST: '', // said by DOCKER_SOCKET
    SANDBOX_IMAGE: plan.sandboxImage,
    SANDBOX_NODE_FILE: plan.tools.node,
    SANDBOX_CLAUDE_FILE: plan.tools.claude,
    SANDBOX_SANDBOXD_FILE: plan.tools.sandboxd,
    BROKER_SOCKET: plan.layout.brokerSocket,
  };
}

function gatewaySettings(plan: ServicePlan): Record<string, string> {
  return {
    DATABASE_URL: plan.databaseUrl,
    REDIS_URL: plan.redisUrl,
    GANTRY_DATA_DIR: plan.layout.root,
    GATEWAY_HOST: plan.gateway.host,
    GATEWAY_PORT: String(plan.gateway.port),
    GATEWAY_WEB_DIR: join(checkout, 'dist', 'apps', 'web'),
    GANTRY_BOOTSTRAP_TOKEN_FILE: plan.layout.adminToken,
    GANTRY_DEMO_MODEL: plan.demo ? '1' : '0',
  };
}

/** What every process needs of the user's environment, whatever it does. */
export function baseEnvironment(env: Environment): Record<string, string> {
  const passed = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];
  return Object.fromEntries(passed.flatMap((name): [string, string][] => (env[name] ? [[name, env[name]]] : [])));
}
