// What the gateway is configured with.
import {
  certificateAndKeyTogether,
  gatewayBeyondLoopbackIsProtected,
  publicUrlFitsTls,
  timeoutWithinLimit,
} from './cross-rules.js';
import type { LogLevel } from './options.js';
import { dataDirOf } from './paths.js';
import { readOptions, type Environment } from './read-options.js';
import type { Secret } from './secret.js';

export interface GatewayConfig {
  logLevel: LogLevel;
  dataDir: string;
  http: {
    host: string;
    /** 0: any free port. */
    port: number;
    tls: { certFile: string; keyFile: string } | undefined;
    /** Without a trailing slash. */
    publicUrl: string | undefined;
    /** Origins besides the gateway's own, as browsers send them. */
    allowedOrigins: string[];
    /** Folder of the web client's files. */
    webDir: string | undefined;
  };
  database: { url: Secret };
  redis: { url: Secret };
  /** File with the first administrator's sign-in token. */
  bootstrapTokenFile: string | undefined;
  maxMessageBytes: number;
  idempotencyTtlMs: number;
  diskWarnFreePercent: number;
  hostGraceMs: number;
  runs: { timeoutMs: number; timeoutMaxMs: number };
  /** Answers come from the demo model; clients are told. */
  demoModel: boolean;
}

/** Throws `config.invalid` with every problem; never a value. */
export function loadGatewayConfig(env: Environment): GatewayConfig {
  const values = readOptions('gateway', env, [
    certificateAndKeyTogether,
    gatewayBeyondLoopbackIsProtected,
    publicUrlFitsTls,
    timeoutWithinLimit,
  ]);
  const { CERT_FILE: certFile, KEY_FILE: keyFile, GANTRY_PUBLIC_URL: publicUrl } = values;
  const origins = new Set([
    ...(values.GANTRY_ALLOWED_ORIGINS ?? []),
    ...(publicUrl ? [new URL(publicUrl).origin] : []),
  ]);
  return {
    logLevel: values.LOG_LEVEL,
    dataDir: dataDirOf(values.GANTRY_DATA_DIR),
    http: {
      host: values.GATEWAY_HOST,
      port: values.GATEWAY_PORT,
      tls: certFile && keyFile ? { certFile, keyFile } : undefined,
      publicUrl,
      allowedOrigins: [...origins],
      webDir: values.GATEWAY_WEB_DIR,
    },
    database: { url: values.DATABASE_URL },
    redis: { url: values.REDIS_URL },
    bootstrapTokenFile: values.GANTRY_BOOTSTRAP_TOKEN_FILE,
    maxMessageBytes: values.GANTRY_MAX_MESSAGE_BYTES,
    idempotencyTtlMs: values.GANTRY_IDEMPOTENCY_TTL_MS,
    diskWarnFreePercent: values.GANTRY_DISK_WARN_FREE_PERCENT,
    hostGraceMs: values.GANTRY_HOST_GRACE_MS,
    runs: { timeoutMs: values.GANTRY_RUN_TIMEOUT_MS, timeoutMaxMs: values.GANTRY_RUN_TIMEOUT_MAX_MS },
    demoModel: values.GANTRY_DEMO_MODEL,
  };
}
