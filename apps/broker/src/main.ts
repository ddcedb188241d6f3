// The broker process: configuration in, parts bound together, signals heard.
import { createDatabase, PgTokenDirectory } from '#persistence';
import { loadBrokerConfig } from '#config';
import { systemClock } from '#kernel';
import { createLogger, logProcessEvents } from '#observability';
import { BrokerServer } from './broker-server.js';
import { anthropicProvider } from './providers/anthropic.provider.js';
import { createUpstream } from './providers/upstream.js';

/** Longest wait for running streams after SIGTERM: as long as a model's longest answers take. A second signal ends it at once. */
const DRAIN_LIMIT_MS = 15 * 60_000;
/** One query per request, and it is short. */
const DATABASE_CONNECTIONS = 4;

async function main(): Promise<void> {
  const config = loadBrokerConfig(process.env);
  const logger = createLogger({ service: 'broker', level: config.logLevel });
  logProcessEvents(logger);
  const database = createDatabase(config.database.url.reveal(), { poolSize: DATABASE_CONNECTIONS });
  const { baseUrl, proxyUrl, credential } = config.model;
  const broker = new BrokerServer({
    socketPath: config.socketPath,
    providers: [anthropicProvider(createUpstream({ baseUrl, proxyUrl }), credential)],
    directory: new PgTokenDirectory(database),
    logger,
    clock: systemClock,
  });
  await broker.listen();
  logger.info({ configured: credential !== undefined, proxy: proxyUrl !== undefined }, 'listening');

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'draining');
    broker
      .drain(DRAIN_LIMIT_MS)
      .then(() => database.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'drain failed');
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  createLogger({ service: 'broker', level: 'info' }).fatal({ err: error }, 'could not start');
  process.exitCode = 1;
});
