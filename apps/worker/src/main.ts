// The worker process: configuration in, one worker out. SIGTERM and SIGINT hand its runs over; SIGUSR2 ends them for good.
import 'reflect-metadata';
import { loadWorkerConfig } from '#config';
import { toAppError } from '#kernel';
import { createLogger, type Logger, logError, logProcessEvents } from '#observability';
import { findMigrations } from './find-migrations.js';
import { createWorkerApp } from './worker-app.js';

/** Letting go takes no longer than this, whatever is away; then the process ends anyway. */
const HAND_OVER_MS = 8_000;
const SHUT_DOWN_MS = 55_000;

async function start(): Promise<void> {
  const config = loadWorkerConfig(process.env);
  const logger = createLogger({ service: 'worker', level: config.logLevel });
  logProcessEvents(logger);
  const app = createWorkerApp({ config, migrationsDir: findMigrations(import.meta.dirname), logger });
  const leave = (signal: string) => void end(logger, signal, () => app.close(), HAND_OVER_MS);
  process.once('SIGTERM', leave);
  process.once('SIGINT', leave);
  process.once('SIGUSR2', (signal) => void end(logger, signal, () => app.shutDown(), SHUT_DOWN_MS));
  const { port } = await app.listen();
  logger.info({ host: config.http.host, port }, 'listening');
}

async function end(logger: Logger, signal: string, leave: () => Promise<void>, deadlineMs: number): Promise<void> {
  logger.info({ signal }, 'closing');
  setTimeout(() => {
    logger.error({ deadline_ms: deadlineMs }, 'closing took too long');
    process.exit(1);
  }, deadlineMs).unref();
  try {
    await leave();
    logger.info('closed');
  } catch (error) {
    logError(logger, error, { doing: 'close' });
    process.exitCode = 1;
  }
  process.exit();
}

start().catch((thrown: unknown) => {
  const error = toAppError(thrown);
  process.stderr.write(`worker: ${error.message}\n`);
  if (error.kind === 'internal') process.stderr.write(`${String((thrown as Error).stack)}\n`);
  process.exit(1);
});
