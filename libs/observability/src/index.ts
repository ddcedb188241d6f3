// Logging, metrics and health for every process of Gantry.
export * from './correlation.js';
export { createLogger, LOG_LEVELS, type Logger, type LoggerOptions, type LogLevel } from './logging/create-logger.js';
export { logError } from './logging/log-error.js';
export { isSensitiveKey, REDACTED } from './logging/redact-line.js';
export { serializeError, type SerializedError } from './logging/serialize-error.js';
