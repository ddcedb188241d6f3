// What a handler knows about a request besides its payload, and the shape of handlers.
import type { ProjectRecord, UserRecord } from '#domain';
import type { Role } from '#kernel';
import type { CLIENT_EVENTS, ClientData, ClientEventName, ClientRequest } from '#protocol';
import type { ClientConnection } from './client-connection.js';

export interface RequestContext {
  readonly user: UserRecord;
  readonly connection: ClientConnection;
  readonly correlationId: string;
  /** Runs as soon as the ack was handed over, so that a push cannot overtake it. Not run when the request fails. */
  afterAck(action: () => void): void;
}

/** Of events about one project: it exists and the user may do this in it. */
export interface ProjectContext extends RequestContext {
  readonly project: ProjectRecord;
  readonly role: Role;
}

export type ContextOf<E extends ClientEventName> = (typeof CLIENT_EVENTS)[E]['role'] extends 'user'
  ? RequestContext
  : ProjectContext;

export type EventHandler<E extends ClientEventName> = (
  request: ClientRequest<E>,
  context: ContextOf<E>,
) => Promise<ClientData<E>>;

/** The handlers that a feature gives; all features together give one for every event of the catalogue. */
export type EventHandlers<E extends ClientEventName> = { readonly [K in E]: EventHandler<K> };
export type HandlerTable = EventHandlers<ClientEventName>;
