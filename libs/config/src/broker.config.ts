// What the broker is configured with: the only process that is given model credentials.
import { modelUrlIsPrivate, oneModelCredential } from './cross-rules.js';
import type { LogLevel } from './options.js';
import { brokerSocketOf, dataDirOf } from './paths.js';
import { readOptions, type Environment } from './read-options.js';
import type { Secret } from './secret.js';

export type ModelCredential = { kind: 'api_key' | 'oauth_token'; value: Secret };

export interface BrokerConfig {
  logLevel: LogLevel;
  dataDir: string;
  database: { url: Secret };
  /** Unix socket to listen on. Its folder is mounted into every sandbox. */
  socketPath: string;
  model: {
    /** Without a trailing slash. */
    baseUrl: string;
    /** Undefined: every model request is answered `broker.not_configured`. */
    credential: ModelCredential | undefined;
    /** Proxy for the way to `baseUrl`; may hold a password. */
    proxyUrl: Secret | undefined;
  };
}

/** Throws `config.invalid` with every problem; never a value. */
export function loadBrokerConfig(env: Environment): BrokerConfig {
  const values = readOptions('broker', env, [oneModelCredential, modelUrlIsPrivate]);
  const dataDir = dataDirOf(values.GANTRY_DATA_DIR);
  return {
    logLevel: values.LOG_LEVEL,
    dataDir,
    database: { url: values.DATABASE_URL },
    socketPath: brokerSocketOf(values.BROKER_SOCKET, dataDir),
    model: {
      baseUrl: values.GANTRY_MODEL_BASE_URL,
      credential: credentialOf(values.ANTHROPIC_API_KEY, values.CLAUDE_CODE_OAUTH_TOKEN),
      proxyUrl: values.HTTPS_PROXY,
    },
  };
}

function credentialOf(apiKey: Secret | undefined, oauthToken: Secret | undefined): ModelCredential | undefined {
  if (apiKey) return { kind: 'api_key', value: apiKey };
  return oauthToken && { kind: 'oauth_token', value: oauthToken };
}
