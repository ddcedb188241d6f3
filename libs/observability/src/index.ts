// Logging, metrics and health for every process of Gantry.
export * from './correlation.js';
export {
  type CheckResult,
  type HealthCheck,
  HealthRegistry,
  type HealthReport,
  type HealthScope,
} from './health/health-registry.js';
export { createStatusHandler, type StatusPages } from './health/status-handler.js';
export { createLogger, LOG_LEVELS, type Logger, type LoggerOptions, type LogLevel } from './logging/create-logger.js';
export { logError } from './logging/log-error.js';
export { logProcessEvents } from './logging/log-process-events.js';
export { NestLoggerAdapter } from './logging/nest-logger.adapter.js';
export { isSensitiveKey, REDACTED } from './logging/redact-line.js';
export { logRunLine, type RunLine } from './logging/run-line.js';
export { serializeError, type SerializedError } from './logging/serialize-error.js';
export {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type QueueDepth,
  type Storage,
} from './metrics/create-metrics.js';
