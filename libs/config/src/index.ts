// Configuration: the environment, parsed once with zod into typed objects. Nothing else reads process.env.
export { loadBrokerConfig, type BrokerConfig, type ModelCredential } from './broker.config.js';
export { renderConfigurationPage } from './configuration-page.js';
export { loadGatewayConfig, type GatewayConfig } from './gateway.config.js';
export { loadMakeConfig, type MakeConfig } from './make.config.js';
export type { LogLevel } from './options.js';
export { isLoopback } from './cross-rules.js';
export { environmentFor, type Environment, type Problem } from './read-options.js';
export { Secret } from './secret.js';
export { loadWorkerConfig, type WorkerConfig } from './worker.config.js';
export { MAX_SOCKET_PATH_BYTES } from './values.schema.js';
