// What clients meet once the backend is there: the Nest application behind HTTP, and the websocket endpoint with its handlers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { GatewayConfig } from '#config';
import type { Clock } from '#kernel';
import { type HealthRegistry, type Logger, type Metrics, NestLoggerAdapter } from '#observability';
import { REST_PREFIX } from '#protocol';
import type { GatewayTuning } from './gateway-tuning.js';
import { GatewayModule } from './gateway.module.js';
import { ProblemFilter } from './http/problem.filter.js';
import { securityHeaders } from './http/security-headers.js';
import { serveWebClient } from './http/web-client.js';
import { CommitAnnouncer } from './live/commit-announcer.js';
import { FeedHub } from './live/feed-hub.js';
import type { GatewayPorts } from './ports.js';
import { rootsOf } from './projects/choose-host.js';
import { restEntry } from './rest/rest-entry.js';
import type { RestSettings } from './rest/rest-settings.js';
import { RestTraffic } from './rest/rest-traffic.js';
import { StatsFeed } from './stats/stats-feed.js';
import { AccessPolicy } from './transport/access.js';
import { Dispatcher } from './transport/dispatcher.js';
import { HANDLERS } from './transport/handler-table.js';
import { helloOf } from './transport/hello.js';
import type { OriginRules } from './transport/origin.js';
import type { HandlerTable } from './transport/request-context.js';
import { SocketServer } from './transport/socket-server.js';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Edge {
  handle: RequestHandler;
  sockets: SocketServer;
  close(): Promise<void>;
}

export interface EdgeOptions {
  config: Pick<GatewayConfig, 'http' | 'maxMessageBytes' | 'runs' | 'demoModel' | 'diskWarnFreePercent'>;
  version: string;
  ports: GatewayPorts;
  health: HealthRegistry;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  tuning: GatewayTuning;
}

export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const { tuning } = options;
  const app = await createNestApp(options);
  const hub = app.get(FeedHub);
  const announcer = app.get(CommitAnnouncer);
  const dispatcher = createDispatcher(app, options);
  const sockets = createSockets(options, dispatcher);
  hub.start();
  app.get(StatsFeed).start(sockets);
  return {
    handle: app.getHttpAdapter().getInstance() as RequestHandler,
    sockets,
    close: async () => {
      await Promise.all([sockets.drain(tuning.drainSpreadMs), app.get(RestTraffic).drain(tuning.drainSpreadMs)]);
      sockets.close();
      await dispatcher.close();
      await announcer.settle();
      await hub.stop();
      await app.get(StatsFeed).stop();
      await app.close();
    },
  };
}

async function createNestApp(options: EdgeOptions): Promise<NestExpressApplication> {
  const { config, logger, metrics, clock, ports, health, tuning, version } = options;
  const module = GatewayModule.compose({
    ports,
    health,
    logger,
    tickMs: tuning.tickMs,
    stats: { everyMs: tuning.statsMs, warnFreePercent: config.diskWarnFreePercent },
    settings: { version, runTimeoutMs: config.runs.timeoutMs, runTimeoutMaxMs: config.runs.timeoutMaxMs },
    rest: restSettings(options),
  });
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as a class and reads them as plain fields
  const nestOptions: NestApplicationOptions = {
    logger: new NestLoggerAdapter(logger),
    bodyParser: false,
    abortOnError: false,
  };
  const app = await NestFactory.create<NestExpressApplication>(module, nestOptions);
  app.disable('x-powered-by');
  app.use(securityHeaders({ tls: config.http.tls !== undefined }));
  app.use(REST_PREFIX, restEntry({ traffic: app.get(RestTraffic), logger, metrics, clock }));
  if (config.http.webDir !== undefined) serveWebClient(app, config.http.webDir);
  app.useGlobalFilters(new ProblemFilter(logger));
  return app.init();
}

function restSettings({ config, tuning }: EdgeOptions): RestSettings {
  return {
    origins: originRules(config.http),
    maxBodyBytes: config.maxMessageBytes,
    requestDeadlineMs: tuning.requestDeadlineMs,
    maxPending: tuning.maxPending,
    recheckMs: tuning.tickMs,
  };
}

const originRules = ({ host, tls, allowedOrigins }: GatewayConfig['http']): OriginRules => ({
  allowed: allowedOrigins,
  tls: tls !== undefined,
  host,
});

function createDispatcher(app: NestExpressApplication, options: EdgeOptions): Dispatcher {
  const { config, logger, metrics, clock, tuning } = options;
  return new Dispatcher({
    handlers: app.get<HandlerTable>(HANDLERS),
    access: app.get(AccessPolicy),
    logger,
    metrics,
    clock,
    maxFrameBytes: config.maxMessageBytes,
    requestDeadlineMs: tuning.requestDeadlineMs,
    maxPending: tuning.maxPending,
    loggedRefusals: tuning.loggedRefusals,
  });
}

function createSockets(options: EdgeOptions, dispatcher: Dispatcher): SocketServer {
  const { config, logger, metrics, clock, ports, tuning, version } = options;
  const facts = {
    version,
    maxFrameBytes: config.maxMessageBytes,
    demoModel: config.demoModel,
    runs: config.runs,
  };
  return new SocketServer(
    {
      tokens: ports.tokens,
      origins: originRules(config.http),
      hello: async (signedIn) => helloOf(facts, signedIn, rootsOf(await ports.hosts.list()), clock),
      maxFrameBytes: config.maxMessageBytes,
      outboxBounds: tuning.outboxBounds,
      handshakeDeadlineMs: tuning.handshakeDeadlineMs,
      logger,
      metrics,
      clock,
    },
    dispatcher,
  );
}
