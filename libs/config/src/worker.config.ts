// What the worker is configured with.
import { oneDockerSocket, timeoutWithinLimit, tmpFitsMemory, workerBeyondLoopbackIsAllowed } from './cross-rules.js';
import type { LogLevel } from './options.js';
import { brokerSocketOf, dataDirOf, DEFAULT_DOCKER_SOCKET, projectRootsOf } from './paths.js';
import { readOptions, type Environment, type ValuesOf } from './read-options.js';
import type { Secret } from './secret.js';

const MIB = 1_048_576;

export interface WorkerConfig {
  logLevel: LogLevel;
  dataDir: string;
  /** Health and metrics. Port 0: any free one. */
  http: { host: string; port: number };
  database: { url: Secret };
  redis: { url: Secret };
  /** Absolute folders beneath which projects may be created. */
  projectRoots: string[];
  docker: { socketPath: string };
  broker: { socketPath: string };
  sandbox: {
    /** Image of projects that name none. */
    image: string;
    /** Files on the host that are mounted read-only into every sandbox (R20). */
    tools: { nodeFile: string; claudeFile: string; sandboxdFile: string };
    limits: { memoryBytes: number; cpus: number; pids: number; tmpBytes: number; spoolBytes: number };
    /** How long an unused one runs; 0: for ever. */
    idleMs: number;
  };
  runs: {
    maxConcurrent: number;
    timeoutMs: number;
    timeoutMaxMs: number;
    warmAgentIdleMs: number;
    maxWarmAgents: number;
    /** After so long a run that waits for a person leaves its lane to others, where its project says nothing; 0: never. */
    parkAfterMs: number;
    spareAgents: boolean;
    /** How often a turn is begun again, and the first wait, ms. */
    modelRetries: { most: number; firstMs: number };
    /** How often the agent repeats a request by itself. */
    agentApiRetries: number;
  };
  output: {
    /** Of one run, unless its project says otherwise. */
    maxRunBytes: number;
    maxProjectBytes: number;
    /** 0: for ever. */
    retentionDays: number;
    sweepMs: number;
  };
  leaseMs: number;
  reconcileMs: number;
  idempotencyTtlMs: number;
}

/** Throws `config.invalid` with every problem; never a value. */
export function loadWorkerConfig(env: Environment): WorkerConfig {
  const rules = [workerBeyondLoopbackIsAllowed, oneDockerSocket, timeoutWithinLimit, tmpFitsMemory];
  const values = readOptions('worker', env, rules);
  const dataDir = dataDirOf(values.GANTRY_DATA_DIR);
  return {
    logLevel: values.LOG_LEVEL,
    dataDir,
    http: { host: values.WORKER_HOST, port: values.WORKER_PORT },
    database: { url: values.DATABASE_URL },
    redis: { url: values.REDIS_URL },
    projectRoots: projectRootsOf(values.GANTRY_PROJECT_ROOTS, dataDir),
    docker: { socketPath: values.DOCKER_SOCKET ?? values.DOCKER_HOST ?? DEFAULT_DOCKER_SOCKET },
    broker: { socketPath: brokerSocketOf(values.BROKER_SOCKET, dataDir) },
    sandbox: sandboxOf(values),
    runs: {
      maxConcurrent: values.GANTRY_MAX_CONCURRENT_RUNS,
      timeoutMs: values.GANTRY_RUN_TIMEOUT_MS,
      timeoutMaxMs: values.GANTRY_RUN_TIMEOUT_MAX_MS,
      warmAgentIdleMs: values.GANTRY_WARM_AGENT_IDLE_MS,
      maxWarmAgents: values.GANTRY_MAX_WARM_AGENTS,
      parkAfterMs: values.GANTRY_PARK_AFTER_MS,
      spareAgents: values.GANTRY_SPARE_AGENTS,
      modelRetries: { most: values.GANTRY_MODEL_RETRIES, firstMs: values.GANTRY_MODEL_RETRY_MS },
      agentApiRetries: values.GANTRY_AGENT_API_RETRIES,
    },
    output: {
      maxRunBytes: values.GANTRY_MAX_RUN_OUTPUT_BYTES,
      maxProjectBytes: values.GANTRY_MAX_PROJECT_OUTPUT_BYTES,
      retentionDays: values.GANTRY_OUTPUT_RETENTION_DAYS,
      sweepMs: values.GANTRY_RETENTION_SWEEP_MS,
    },
    leaseMs: values.GANTRY_LEASE_MS,
    reconcileMs: values.GANTRY_RECONCILE_MS,
    idempotencyTtlMs: values.GANTRY_IDEMPOTENCY_TTL_MS,
  };
}

function sandboxOf(values: ValuesOf<'worker'>): WorkerConfig['sandbox'] {
  return {
    image: values.SANDBOX_IMAGE,
    tools: {
      nodeFile: values.SANDBOX_NODE_FILE,
      claudeFile: values.SANDBOX_CLAUDE_FILE,
      sandboxdFile: values.SANDBOX_SANDBOXD_FILE,
    },
    limits: {
      memoryBytes: values.SANDBOX_MEMORY_MB * MIB,
      cpus: values.SANDBOX_CPUS,
      pids: values.SANDBOX_PIDS,
      tmpBytes: values.SANDBOX_TMP_MB * MIB,
      spoolBytes: values.SANDBOX_SPOOL_MB * MIB,
    },
    idleMs: values.GANTRY_SANDBOX_IDLE_MS,
  };
}
