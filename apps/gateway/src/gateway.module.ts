// The composition of the gateway's features: ports in, one table of handlers out.
import { type DynamicModule, type FactoryProvider, Module, type Provider } from '@nestjs/common';
import type { HealthRegistry } from '#observability';
import { HealthRegistry as Health, type Logger, logError } from '#observability';
import { HealthGateway } from './health/health.gateway.js';
import { HistoryGateway } from './history/history.gateway.js';
import { CommitAnnouncer } from './live/commit-announcer.js';
import { FeedHub } from './live/feed-hub.js';
import { PermissionsGateway } from './permissions/permissions.gateway.js';
import { type FeatureSettings, type GatewayPorts, LOGGER, PORT, SETTINGS } from './ports.js';
import type { RestSettings } from './rest/rest-settings.js';
import { REST_CONTROLLERS, restProviders } from './rest/rest.providers.js';
import { ProjectJoin } from './projects/project-join.js';
import { ProjectLifecycle } from './projects/project-lifecycle.js';
import { ProjectWaker } from './projects/project-waker.js';
import { ProjectsGateway } from './projects/projects.gateway.js';
import { QueueGateway } from './runs/queue.gateway.js';
import { RunsGateway } from './runs/runs.gateway.js';
import { RunControlGateway } from './sessions/run-control.gateway.js';
import { SessionsGateway } from './sessions/sessions.gateway.js';
import { StatsFeed, type StatsFeedOptions } from './stats/stats-feed.js';
import { StatsGateway } from './stats/stats.gateway.js';
import { StreamsGateway } from './streams/streams.gateway.js';
import { AccessPolicy } from './transport/access.js';
import { checkHandlers, HANDLERS } from './transport/handler-table.js';
import type { HandlerTable } from './transport/request-context.js';

export interface GatewayModuleOptions {
  ports: GatewayPorts;
  settings: FeatureSettings;
  rest: RestSettings;
  health: HealthRegistry;
  logger: Logger;
  /** Time between two comparisons with the heads in Postgres, ms. */
  tickMs: number;
  stats: Pick<StatsFeedOptions, 'everyMs' | 'warnFreePercent'>;
}

const portProviders = (ports: GatewayPorts): Provider[] =>
  (Object.keys(PORT) as (keyof GatewayPorts)[]).map((name) => ({ provide: PORT[name], useValue: ports[name] }));

/** The compiler refuses a table that lacks an event; `checkHandlers` refuses one with two handlers for an event. */
const handlerTable: FactoryProvider<HandlerTable> = {
  provide: HANDLERS,
  inject: [
    ProjectsGateway,
    RunsGateway,
    HistoryGateway,
    StreamsGateway,
    PermissionsGateway,
    HealthGateway,
    RunControlGateway,
    SessionsGateway,
    QueueGateway,
    StatsGateway,
  ],
  useFactory: (
    projects: ProjectsGateway,
    runs: RunsGateway,
    history: HistoryGateway,
    streams: StreamsGateway,
    ...[permissions, health, control, sessions, queue, stats]: [
      PermissionsGateway,
      HealthGateway,
      RunControlGateway,
      SessionsGateway,
      QueueGateway,
      StatsGateway,
    ]
  ): HandlerTable => {
    const table = {
      ...projects.handlers,
      ...runs.handlers,
      ...history.handlers,
      ...streams.handlers,
      ...permissions.handlers,
      ...health.handlers,
      ...control.handlers,
      ...sessions.handlers,
      ...queue.handlers,
      ...stats.handlers,
    } satisfies HandlerTable;
    const parts = [projects, runs, history, streams, permissions, health, control, sessions, queue, stats];
    checkHandlers(parts.map(({ handlers }) => handlers));
    return table;
  },
};

@Module({})
export class GatewayModule {
  static compose({ ports, settings, rest, health, logger, tickMs, stats }: GatewayModuleOptions): DynamicModule {
    const report = (error: unknown, context: Record<string, unknown> = {}) => logError(logger, error, context);
    const hub = new FeedHub({ events: ports.events, runs: ports.runs, bus: ports.bus, tickMs, report });
    const announcer = new CommitAnnouncer(ports.announcer, hub, (error) => report(error, { operation: 'announce' }));
    return {
      module: GatewayModule,
      controllers: REST_CONTROLLERS,
      providers: [
        ...portProviders(ports),
        ...restProviders(ports, hub, rest),
        { provide: SETTINGS, useValue: settings },
        { provide: LOGGER, useValue: logger },
        { provide: Health, useValue: health },
        { provide: StatsFeed, useValue: new StatsFeed({ usage: ports.usage, ...stats, logger }) },
        { provide: FeedHub, useValue: hub },
        { provide: CommitAnnouncer, useValue: announcer },
        { provide: AccessPolicy, useValue: new AccessPolicy(ports) },
        { provide: ProjectJoin, useValue: new ProjectJoin(hub, ports, report) },
        { provide: ProjectLifecycle, useValue: new ProjectLifecycle(ports, announcer, settings, report) },
        { provide: ProjectWaker, useValue: new ProjectWaker({ hostClient: ports.hostClient, report }) },
        ProjectsGateway,
        RunsGateway,
        HistoryGateway,
        StreamsGateway,
        PermissionsGateway,
        HealthGateway,
        RunControlGateway,
        SessionsGateway,
        QueueGateway,
        StatsGateway,
        handlerTable,
      ],
    };
  }
}
