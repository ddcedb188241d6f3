// The gateway process: configuration in, one gateway out, SIGTERM and SIGINT end it in good order.
import 'reflect-metadata';
import { loadGatewayConfig } from '#config';
import { toAppError } from '#kernel';
import { createLogger, type Logger, logError, logProcessEvents } from '#observability';
import { openBackend } from './backend.js';
import { createGatewayApp, type GatewayApp } from './gateway-app.js';
import { DEFAULT_TUNING } from './gateway-tuning.js';
import { findInstallation } from './installation.js';

/** Beyond the time in which clients are sent away, everything else must be over by then. */
const SHUTDOWN_GRACE_MS = 8000;

async function start(): Promise<void> {
  const config = loadGatewayConfig(process.env);
  const logger = createLogger({ service: 'gateway', level: config.logLevel });
  logProcessEvents(logger);
  const { version, migrationsDir } = findInstallation(import.meta.dirname);
  const backend = openBackend(config, { migrationsDir, logger });
  const app = createGatewayApp({ config, backend, version, logger });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void leave(app, logger, signal));
  const { url } = await app.listen();
  logger.info({ url, version }, 'listening');
  await app.ready;
}

async function leave(app: GatewayApp, logger: Logger, signal: string): Promise<void> {
  logger.info({ signal }, 'closing');
  const late = setTimeout(() => {
    logger.error('closing took too long');
    process.exit(1);
  }, DEFAULT_TUNING.drainSpreadMs + SHUTDOWN_GRACE_MS);
  try {
    await app.close();
    logger.info('closed');
  } catch (error) {
    logError(logger, error, { operation: 'close' });
    process.exitCode = 1;
  }
  clearTimeout(late);
  process.exit();
}

start().catch((thrown: unknown) => {
  const error = toAppError(thrown);
  if (error.code === 'service.draining') return; // closed before it was ready
  process.stderr.write(`gateway: ${error.message}\n`);
  if (error.kind === 'internal') process.stderr.write(`${String((thrown as Error).stack)}\n`);
  process.exit(1);
});
