// A typed client for tests: calls give data or throw the typed error, pushes are collected and waited for by events, never by sleeping.
import { EventEmitter } from 'node:events';
import { io, type Socket } from 'socket.io-client';
import {
  type Ack,
  CLIENT_EVENTS,
  type ClientData,
  type ClientEventName,
  type ClientRequest,
  type ErrorObject,
  errorObject,
  PROTOCOL,
  SERVER_EVENTS,
  type ServerEventName,
  type ServerPush,
} from '#protocol';

export interface SocketClientOptions {
  token?: string;
  protocol?: number;
  clientId?: string;
  maxMessageKb?: number;
  /** Sent as the Origin header, as a browser would. */
  origin?: string;
  /** Further fields of `auth`, also wrong ones. */
  auth?: Record<string, unknown>;
  /** Off unless asked for: a test wants to see a lost connection. */
  reconnect?: boolean;
  /** A certificate to trust, PEM. */
  ca?: string;
}

/** What a server refused: the protocol's error object as something that can be thrown. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(readonly error: ErrorObject) {
    super(`${error.code}: ${error.message}`);
  }

  get code(): ErrorObject['code'] {
    return this.error.code;
  }
}

export type Push = { [E in ServerEventName]: { event: E; payload: ServerPush<E> } }[ServerEventName];

const WAIT_MS = 15_000;

export class SocketClient {
  /** Everything the server pushed, in order. */
  readonly pushes: Push[] = [];
  private readonly news = new EventEmitter();

  private constructor(readonly socket: Socket) {
    this.news.setMaxListeners(0);
    socket.onAny((event: string, payload: unknown) => this.collect(event, payload));
    socket.on('disconnect', (reason, details) => this.news.emit('disconnect', reason, details));
  }

  /** Resolves after `hello`. Throws `CallError` when the server refuses, and what socket.io says when it cannot connect at all. */
  static async connect(url: string, options: SocketClientOptions = {}): Promise<SocketClient> {
    const { token, protocol = PROTOCOL.max, clientId, maxMessageKb, origin, auth, reconnect = false, ca } = options;
    const socket = io(url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: reconnect,
      autoConnect: false,
      ...(origin === undefined ? {} : { extraHeaders: { origin } }),
      ...(ca === undefined ? {} : { ca }),
      auth: {
        ...(token === undefined ? {} : { token }),
        protocol,
        ...(clientId === undefined ? {} : { client_id: clientId }),
        ...(maxMessageKb === undefined ? {} : { max_message_kb: maxMessageKb }),
        ...auth,
      },
    });
    const client = new SocketClient(socket);
    const refused = new Promise<never>((_, reject) => {
      socket.once('connect_error', (error: Error & { data?: unknown }) => {
        const refusal = errorObject.safeParse(error.data);
        reject(refusal.success ? new CallError(refusal.data) : error);
      });
    });
    socket.connect();
    try {
      await Promise.race([client.waitFor('hello'), refused]);
      return client;
    } catch (error) {
      socket.disconnect();
      client.news.emit('disconnect', 'refused');
      throw error;
    }
  }

  get hello(): ServerPush<'hello'> {
    const first = this.all('hello')[0];
    if (first === undefined) throw new Error('The server has not said hello.');
    return first;
  }

  /** The data of the ack, checked against the catalogue. Throws `CallError`. */
  async call<E extends ClientEventName>(event: E, payload: ClientRequest<E>): Promise<ClientData<E>> {
    const answer = await this.raw(event, payload);
    if (!answer.ok) throw new CallError(errorObject.parse(answer.error));
    return CLIENT_EVENTS[event].data.parse(answer.data) as ClientData<E>;
  }

  /** Any event with any arguments; the ack as it came. Rejects when the connection ends first. */
  async raw(event: string, ...args: unknown[]): Promise<Ack<unknown>> {
    return (await this.socket.timeout(WAIT_MS).emitWithAck(event, ...args)) as Ack<unknown>;
  }

  /** The error with which a call is refused. Throws when it is not. */
  async refusal(event: string, ...args: unknown[]): Promise<ErrorObject> {
    const answer = await this.raw(event, ...args);
    if (answer.ok) throw new Error(`${event} was not refused`);
    return errorObject.parse(answer.error);
  }

  /** The payloads of one event so far. */
  all<E extends ServerEventName>(event: E): ServerPush<E>[] {
    return this.pushes.flatMap((push) => (push.event === event ? [push.payload as ServerPush<E>] : []));
  }

  /** The first payload of an event, among those that came and those to come, for which `matches` holds. */
  async waitFor<E extends ServerEventName>(
    event: E,
    matches: (payload: ServerPush<E>) => boolean = () => true,
    timeoutMs = WAIT_MS,
  ): Promise<ServerPush<E>> {
    const found = () => this.all(event).find(matches);
    await this.until(() => found() !== undefined, `${event} that matches`, timeoutMs);
    return found() as ServerPush<E>;
  }

  /** Resolves as soon as `holds` after a push; looks at once, too. */
  async until(holds: () => boolean, what = 'condition', timeoutMs = WAIT_MS): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.news.off('push', look);
        this.news.off('disconnect', gone);
        settle();
      };
      const look = () => {
        if (holds()) done(resolve);
      };
      const gone = (reason: string) => done(() => reject(new Error(`${what}: the connection ended (${reason})`)));
      const timer = setTimeout(() => done(() => reject(new Error(`${what}: not within ${timeoutMs} ms`))), timeoutMs);
      this.news.on('push', look);
      if (!this.socket.io.reconnection()) this.news.on('disconnect', gone);
    });
  }

  /** Why the connection ended, once it does. */
  async disconnected(): Promise<{ reason: string; details: unknown }> {
    return new Promise((resolve) => {
      this.news.once('disconnect', (reason: string, details: unknown) => resolve({ reason, details }));
    });
  }

  close(): void {
    this.socket.disconnect();
  }

  private collect(event: string, payload: unknown): void {
    if (!Object.hasOwn(SERVER_EVENTS, event)) throw new Error(`The server pushed ${event}, which no client knows.`);
    const known = event as ServerEventName;
    const checked = SERVER_EVENTS[known].payload.parse(payload);
    this.pushes.push({ event: known, payload: checked } as Push);
    this.news.emit('push');
  }
}
