// The broker's HTTP server on its unix socket: what it listens for, its limits, and how it stops.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TokenDirectory } from '#domain';
import { AppError, type Clock, systemClock } from '#kernel';
import { createStatusHandler, HealthRegistry, type Logger } from '#observability';
import { BrokerMetrics } from './broker-metrics.js';
import { RecentTokenDirectory } from './callers/recent-token-directory.js';
import { StreamSlots } from './callers/stream-slots.js';
import { Exchange, type ExchangeParts } from './exchange.js';
import { errorStatus, sendErrorRaw } from './http/api-error.js';
import type { Provider } from './providers/provider.js';
import { RequestLog } from './request-line.js';
import { acceptWaiting, listenByRename } from './unix-listener.js';

export interface BrokerOptions {
  socketPath: string;
  providers: readonly Provider[];
  directory: TokenDirectory;
  logger: Logger;
  clock?: Clock;
  limits?: Partial<BrokerLimits>;
}

export interface BrokerLimits {
  /** Body of one request; the Messages API takes 32 MB. */
  bodyBytes: number;
  /** Request line and headers together. */
  headerBytes: number;
  connections: number;
  requestsPerProcess: number;
  /** How long tokens confirmed before stand in for a directory that cannot be asked. */
  directoryGraceMs: number;
}

const LIMITS: BrokerLimits = {
  bodyBytes: 32 * 1024 * 1024,
  headerBytes: 32 * 1024,
  connections: 2048,
  requestsPerProcess: 64,
  directoryGraceMs: 30_000,
};
/** From the first byte of a request to its last; a body comes from the same machine. */
const REQUEST_TIMEOUT_MS = 300_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Idle connections; longer than clients' own limits, so that it is the client who closes and never meets a closing server. */
const KEEP_ALIVE_MS = 75_000;
const STATUS_PATHS = new Set(['/healthz', '/readyz', '/metrics']);
/** Cannot be a process's token, which are made of random bytes: asking for it shows whether the directory answers. */
const PROBE_TOKEN = 'readiness-probe';

export class BrokerServer {
  private readonly server: Server;
  private readonly parts: ExchangeParts;
  private readonly health = new HealthRegistry();
  private readonly status: (request: IncomingMessage, response: ServerResponse) => void;
  private running = 0;
  private draining = false;

  constructor(private readonly options: BrokerOptions) {
    const limits = { ...LIMITS, ...options.limits };
    const clock = options.clock ?? systemClock;
    const metrics = new BrokerMetrics();
    this.parts = {
      providers: new Map(options.providers.map((provider) => [provider.name, provider])),
      directory: new RecentTokenDirectory(options.directory, clock, { graceMs: limits.directoryGraceMs }),
      slots: new StreamSlots(limits.requestsPerProcess),
      bodyLimitBytes: limits.bodyBytes,
      clock,
      metrics,
      log: new RequestLog(options.logger),
    };
    this.registerChecks();
    this.status = createStatusHandler({ health: this.health, metrics, logger: options.logger });
    this.server = createServer(
      {
        maxHeaderSize: limits.headerBytes,
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      (request, response) => this.accept(request, response),
    );
    // The size of a head is limited; a limit of its lines too would drop those above it without a word.
    this.server.maxHeadersCount = 0;
    this.server.maxConnections = limits.connections;
    this.server.on('drop', () => metrics.connectionDropped());
    this.refuseWhatIsNoRequest();
  }

  /** Takes the socket path over (see `listenByRename`). */
  async listen(): Promise<void> {
    await listenByRename(this.server, this.options.socketPath);
    // From here on an error of the listening socket (no file descriptors left) costs a connection, not the process.
    this.server.on('error', (error) => this.options.logger.error({ err: error }, 'listening socket'));
  }

  /** Stops accepting and waits for the requests under way, at most `limitMs`; what is left then is broken off. */
  async drain(limitMs: number): Promise<void> {
    this.draining = true;
    this.health.startDraining();
    await acceptWaiting(this.server);
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const timer = setTimeout(() => {
      this.options.logger.warn({ requests: this.running }, 'drain limit reached, breaking off');
      this.server.closeAllConnections();
    }, limitMs);
    await closed;
    clearTimeout(timer);
    for (const provider of this.options.providers) provider.upstream.close();
  }

  private accept(request: IncomingMessage, response: ServerResponse): void {
    if (this.draining) response.shouldKeepAlive = false;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (STATUS_PATHS.has(path)) return this.status(request, response);
    this.running += 1;
    response.once('close', () => {
      this.running -= 1;
      // A connection that was busy when the drain began is idle only now.
      if (this.draining) setImmediate(() => this.server.closeIdleConnections());
    });
    void new Exchange(this.parts, request, response).run();
  }

  private registerChecks(): void {
    this.health.register({
      name: 'token_directory',
      scope: 'readiness',
      run: async () => {
        try {
          await this.options.directory.findOwner(PROBE_TOKEN);
        } catch (error) {
          // Sandboxes can read this page: what is wrong with the database is not their business.
          throw new AppError('service.unavailable', 'The token directory does not answer.', { cause: error });
        }
      },
    });
  }

  private refuseWhatIsNoRequest(): void {
    const refuse = (connection: Duplex, message: string, method: string): void => {
      const error = new AppError('broker.request_refused', message);
      connection.on('error', () => connection.destroy());
      sendErrorRaw(connection, error);
      this.count(error, method);
    };
    this.server.on('connect', (_request, connection) => refuse(connection, 'CONNECT is not served here.', 'CONNECT'));
    this.server.on('upgrade', (request, connection) =>
      refuse(connection, 'Connections are not upgraded here.', request.method ?? ''),
    );
    this.server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
      connection.on('error', () => connection.destroy());
      if (error.code === 'ECONNRESET') return void connection.destroy();
      const known =
        error.code === 'HPE_HEADER_OVERFLOW'
          ? new AppError('request.too_large', 'The head of the request is too large.')
          : new AppError('broker.request_refused', 'This is not a well-formed HTTP request.');
      sendErrorRaw(connection, known);
      this.count(known, '');
    });
  }

  private count(error: AppError, method: string): void {
    const { metrics, log } = this.parts;
    const status = errorStatus(error);
    metrics.started();
    metrics.finished({ provider: 'none', status, seconds: 0, bytesUp: 0, bytesDown: 0 });
    log.write({
      method,
      provider: 'none',
      route: undefined,
      status,
      durationMs: 0,
      bytesUp: 0,
      bytesDown: 0,
      owner: undefined,
      callerLeft: false,
      error,
    });
  }
}
