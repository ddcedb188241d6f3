// One gateway: listens at once, gets ready when its backend is there, and leaves in good order. Several fit into one process.
import { readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayConfig } from '#config';
import { AppError, type Clock, systemClock, toAppError } from '#kernel';
import { createMetrics, createStatusHandler, HealthRegistry, type Logger, logError } from '#observability';
import type { GatewayBackend } from './backend.js';
import { DEFAULT_TUNING, type GatewayTuning } from './gateway-tuning.js';
import { type KeyPurge, startKeyPurge } from './key-purge.js';
import { LostHostWatch } from './health/lost-host-watch.js';
import { registerReadiness } from './health/readiness.js';
import { answerNotReady } from './http/not-ready.js';
import { type Edge, type EdgeOptions, openEdge, type RequestHandler } from './edge.js';

export interface GatewayAppOptions {
  config: EdgeOptions['config'] & Pick<GatewayConfig, 'bootstrapTokenFile' | 'hostGraceMs'>;
  backend: GatewayBackend;
  version: string;
  logger: Logger;
  clock?: Clock;
  tuning?: Partial<GatewayTuning>;
}

export interface GatewayApp {
  /** Resolves when the port is open; the gateway may not be ready yet. */
  listen(): Promise<{ port: number; url: string }>;
  /** Resolves when clients are let in. Rejects for what waiting cannot cure, or when it is closed before. */
  readonly ready: Promise<void>;
  /** Sends the clients away over the configured time, finishes what was begun, and closes everything (R18). */
  close(): Promise<void>;
}

/** How long last words may take to leave. */
const FLUSH_MS = 300;

export function createGatewayApp(options: GatewayAppOptions): GatewayApp {
  const { config, backend, logger, clock = systemClock } = options;
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const health = new HealthRegistry(clock);
  const metrics = createMetrics({
    service: 'gateway',
    readQueueDepth: () => backend.queueDepth(),
    readStorage: () => backend.usage(),
    processMetrics: tuning.processMetrics,
  });
  const status = createStatusHandler({ health, metrics, logger });
  const stopped = new AbortController();
  let handle: RequestHandler = answerNotReady;
  const server = createHttpServer(config.http.tls, (request, response) => {
    status(request, response, () => handle(request, response));
  });
  const closeServer = rememberSockets(server);
  let edge: Edge | undefined;
  let purging: KeyPurge | undefined;
  let lostHosts: LostHostWatch | undefined;
  let closing: Promise<void> | undefined;

  registerReadiness(health, backend.probes);
  health.register({
    name: 'startup',
    scope: 'readiness',
    cacheMs: 0,
    run: async () => {
      if (edge === undefined) throw new AppError('service.unavailable', 'The gateway is starting.');
    },
  });

  const bringUp = async (): Promise<void> => {
    const ports = await waitForBackend(backend, { logger, retryMs: tuning.retryMs, signal: stopped.signal });
    if (config.bootstrapTokenFile !== undefined) {
      await ports.tokens.bootstrapAdmin(readFileSync(config.bootstrapTokenFile, 'utf8').trim());
    }
    const opened = await openEdge({ ...options, clock, tuning, ports, health, metrics });
    opened.sockets.attach(server);
    handle = opened.handle;
    edge = opened;
    purging = startKeyPurge(backend, { everyMs: tuning.purgeKeysMs, logger });
    const { hostGraceMs: graceMs } = config;
    const watch = { store: backend.lostHosts, announcer: ports.announcer, graceMs, everyMs: tuning.lostHostsMs };
    lostHosts = new LostHostWatch({ ...watch, logger, clock });
    lostHosts.start();
    logger.info('ready');
  };
  const started = deferred();
  return {
    ready: started.promise,
    listen: async () => {
      const port = await listenOn(server, config.http);
      started.follow(bringUp());
      return { port, url: urlOf(config.http, port) };
    },
    close: () => {
      closing ??= (async () => {
        health.startDraining();
        stopped.abort(new AppError('service.draining', 'The gateway is closing.'));
        await started.settled();
        await edge?.close();
        await purging?.stop();
        await lostHosts?.stop();
        await closeServer();
        await backend.close();
      })();
      return closing;
    },
  };
}

/** Postgres may come later than this process; migrations are applied by others. */
async function waitForBackend(
  backend: GatewayBackend,
  { logger, retryMs, signal }: { logger: Logger; retryMs: number; signal: AbortSignal },
) {
  for (;;) {
    signal.throwIfAborted();
    try {
      const pending = await backend.probes.pendingMigrations();
      if (pending.length === 0) return await backend.connect();
      logger.warn({ pending }, 'waiting for the database to be migrated');
    } catch (thrown) {
      const error = toAppError(thrown);
      if (!error.retryable) throw error;
      logError(logger, error, { operation: 'startup' });
    }
    await delay(retryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function createHttpServer(tls: GatewayConfig['http']['tls'], handle: RequestHandler): HttpServer {
  if (tls === undefined) return createServer(handle);
  return createTlsServer({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, handle);
}

async function listenOn(server: HttpServer, { host, port }: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function urlOf({ host, tls, publicUrl }: GatewayConfig['http'], port: number): string {
  return publicUrl ?? `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Upgraded connections are none of `closeAllConnections`, so every socket is remembered. Gives back how to close them all with the server. */
function rememberSockets(server: HttpServer): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    for (const socket of sockets) socket.destroySoon();
    await Promise.race([closed, delay(FLUSH_MS)]);
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** A promise that others may look at or not: a rejection that nobody waits for is not an unhandled one. */
function deferred() {
  let outcome: Promise<void> = Promise.resolve();
  let settle!: { resolve: () => void; reject: (error: Error) => void };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  return {
    promise,
    follow(work: Promise<void>) {
      outcome = work.then(settle.resolve, settle.reject);
    },
    settled: () => outcome,
  };
}
