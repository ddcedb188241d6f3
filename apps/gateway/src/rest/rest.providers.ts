// What the composition of the gateway takes in for the HTTP routes.
import type { Provider, Type } from '@nestjs/common';
import type { FeedHub } from '../live/feed-hub.js';
import type { GatewayPorts } from '../ports.js';
import { MessagesController } from './messages.controller.js';
import { OutputController } from './output.controller.js';
import { ProjectsController } from './projects.controller.js';
import { REST_SETTINGS, type RestSettings } from './rest-settings.js';
import { RestTraffic } from './rest-traffic.js';
import { RunEnd } from './run-end.js';
import { RunsController } from './runs.controller.js';
import { ServiceController } from './service.controller.js';
import { SessionsController } from './sessions.controller.js';
import { UseCases } from './use-cases.js';

export const REST_CONTROLLERS: Type[] = [
  ProjectsController,
  SessionsController,
  RunsController,
  OutputController,
  MessagesController,
  ServiceController,
];

export const restProviders = (ports: Pick<GatewayPorts, 'runs'>, hub: FeedHub, settings: RestSettings): Provider[] => [
  UseCases,
  { provide: REST_SETTINGS, useValue: settings },
  { provide: RestTraffic, useValue: new RestTraffic(settings.maxPending) },
  { provide: RunEnd, useValue: new RunEnd({ runs: ports.runs, hub, recheckMs: settings.recheckMs }) },
];
