// What `make up` and its siblings are configured with: what the user brings, and where things are kept.
import {
  certificateAndKeyTogether,
  gatewayBeyondLoopbackIsProtected,
  modelUrlIsPrivate,
  oneDockerSocket,
  oneModelCredential,
  publicUrlFitsTls,
  workerBeyondLoopbackIsAllowed,
} from './cross-rules.js';
import { projectRootsOf } from './paths.js';
import { readOptions, type Environment } from './read-options.js';
import type { Secret } from './secret.js';

const BYTES_PER_MIB = 1_048_576;

export interface MakeConfig {
  dataDir: string;
  projectRoots: string[];
  cacheDir: string | undefined;
  databaseUrl: Secret | undefined;
  redisUrl: Secret | undefined;
  postgresDir: string | undefined;
  dockerSocket: string | undefined;
  /** Where an engine that Gantry starts keeps images and containers. */
  engineDir: string | undefined;
  sandboxImage: string | undefined;
  sandboxBase: string | undefined;
  gateway: { host: string; port: number; portIsGiven: boolean; publicUrl: string | undefined; tls: boolean };
  worker: { host: string; port: number; portIsGiven: boolean };
  model: {
    /** The variable that holds a credential for the model's API. */
    credential: 'ANTHROPIC_API_KEY' | 'CLAUDE_CODE_OAUTH_TOKEN' | undefined;
    /** The demo model is asked for, also over a credential. */
    demoAsked: boolean;
  };
  /** Of each service's log files. `files`: the present one among them. */
  logs: { maxBytes: number; files: number };
  proxyUrl: Secret | undefined;
  extraCaFile: string | undefined;
}

/** `defaultDataDir`: absolute. Throws `config.invalid` with every problem; never a value. */
export function loadMakeConfig(env: Environment, defaultDataDir: string): MakeConfig {
  const values = readOptions('make', env, [
    certificateAndKeyTogether,
    gatewayBeyondLoopbackIsProtected,
    publicUrlFitsTls,
    workerBeyondLoopbackIsAllowed,
    oneDockerSocket,
    oneModelCredential,
    modelUrlIsPrivate,
  ]);
  const dataDir = values.GANTRY_DATA_DIR ?? defaultDataDir;
  return {
    dataDir,
    projectRoots: projectRootsOf(values.GANTRY_PROJECT_ROOTS, dataDir),
    cacheDir: values.GANTRY_CACHE_DIR,
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    postgresDir: values.GANTRY_POSTGRES_DIR,
    dockerSocket: values.DOCKER_SOCKET ?? values.DOCKER_HOST,
    engineDir: values.GANTRY_ENGINE_DIR,
    sandboxImage: values.SANDBOX_IMAGE,
    sandboxBase: values.GANTRY_SANDBOX_BASE,
    gateway: {
      host: values.GATEWAY_HOST,
      port: values.GATEWAY_PORT,
      portIsGiven: !!env['GATEWAY_PORT'],
      publicUrl: values.GANTRY_PUBLIC_URL,
      tls: values.CERT_FILE !== undefined,
    },
    worker: { host: values.WORKER_HOST, port: values.WORKER_PORT, portIsGiven: !!env['WORKER_PORT'] },
    model: { credential: credentialNameOf(values), demoAsked: values.GANTRY_DEMO_MODEL },
    logs: { maxBytes: values.GANTRY_LOG_MAX_MB * BYTES_PER_MIB, files: values.GANTRY_LOG_FILES },
    proxyUrl: values.HTTPS_PROXY,
    extraCaFile: values.NODE_EXTRA_CA_CERTS,
  };
}

function credentialNameOf(values: {
  ANTHROPIC_API_KEY: Secret | undefined;
  CLAUDE_CODE_OAUTH_TOKEN: Secret | undefined;
}): MakeConfig['model']['credential'] {
  if (values.ANTHROPIC_API_KEY) return 'ANTHROPIC_API_KEY';
  return values.CLAUDE_CODE_OAUTH_TOKEN && 'CLAUDE_CODE_OAUTH_TOKEN';
}
