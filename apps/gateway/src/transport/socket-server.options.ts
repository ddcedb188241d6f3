// What the websocket endpoint is given.
import type { TokenStore } from '#domain';
import type { Clock } from '#kernel';
import type { Logger, Metrics } from '#observability';
import type { ServerPush } from '#protocol';
import type { SignedIn } from './handshake.js';
import type { OriginRules } from './origin.js';
import type { OutboxBounds } from './outbox.js';

export interface SocketServerOptions {
  tokens: Pick<TokenStore, 'findUser'>;
  origins: OriginRules;
  /** The first push to each client, made while it is being let in. */
  hello: (signedIn: SignedIn) => Promise<ServerPush<'hello'>>;
  maxFrameBytes: number;
  outboxBounds: OutboxBounds;
  /** A connection that has not signed in by then is cut. */
  handshakeDeadlineMs: number;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}
