// The ports of the gateway and the names under which Nest gives them to those who need them.
import type {
  Announcer,
  EventStore,
  HostClient,
  HostStore,
  LiveBus,
  OutputStore,
  PermissionStore,
  ProjectStore,
  RunControl,
  RunStore,
  SessionStore,
  TokenStore,
  UsageStore,
} from '#domain';

export interface GatewayPorts {
  projects: ProjectStore;
  runs: RunStore;
  control: RunControl;
  sessions: SessionStore;
  events: EventStore;
  outputs: OutputStore;
  permissions: PermissionStore;
  hosts: HostStore;
  tokens: TokenStore;
  usage: UsageStore;
  bus: LiveBus;
  announcer: Announcer;
  hostClient: HostClient;
}

export const PORT = {
  projects: Symbol('ProjectStore'),
  runs: Symbol('RunStore'),
  control: Symbol('RunControl'),
  sessions: Symbol('SessionStore'),
  events: Symbol('EventStore'),
  outputs: Symbol('OutputStore'),
  permissions: Symbol('PermissionStore'),
  hosts: Symbol('HostStore'),
  tokens: Symbol('TokenStore'),
  usage: Symbol('UsageStore'),
  bus: Symbol('LiveBus'),
  announcer: Symbol('Announcer'),
  hostClient: Symbol('HostClient'),
} as const satisfies Record<keyof GatewayPorts, symbol>;

/** Settings that features look at. */
export interface FeatureSettings {
  version: string;
  runTimeoutMs: number;
  runTimeoutMaxMs: number;
}
export const SETTINGS = Symbol('FeatureSettings');
export const LOGGER = Symbol('Logger');
