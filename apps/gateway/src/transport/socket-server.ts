// The websocket endpoint: who is let in, what each connection is given, and how all of them are sent away again.
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { AppError, toAppError } from '#kernel';
import { logError, newCorrelationId } from '#observability';
import type { ServerPush } from '#protocol';
import { ClientConnection } from './client-connection.js';
import type { Dispatcher } from './dispatcher.js';
import { HandshakeRefused } from './error-object.js';
import { measuringParser } from './frame-decoder.js';
import { signIn, type SignedIn } from './handshake.js';
import { isOriginAllowed } from './origin.js';
import { Outbox } from './outbox.js';
import type { SocketServerOptions } from './socket-server.options.js';
import { refuseUpgrade } from './upgrade-refusal.js';

/** What socket.io keeps with a socket between the handshake and the connection. */
interface SocketData {
  signedIn: SignedIn;
  hello: ServerPush<'hello'>;
  correlationId: string;
}
type GatewaySocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketData>;
type SocketIo = Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketData>;

/** socket.io's own frame limit leaves room for frames that are refused with an answer; beyond it the connection is cut (close code 1009). */
const HARD_LIMIT_FACTOR = 2;

/** At the end clients leave at about this distance, or closer where that would take too long: few of them need no spreading. */
const SLOT_MS = 50;

export class SocketServer {
  private readonly io: SocketIo;
  private readonly connections = new Map<ClientConnection, GatewaySocket>();
  private draining = false;

  constructor(
    private readonly options: SocketServerOptions,
    private readonly dispatcher: Dispatcher,
  ) {
    this.io = new Server({
      transports: ['websocket'],
      serveClient: false,
      connectTimeout: options.handshakeDeadlineMs,
      maxHttpBufferSize: options.maxFrameBytes * HARD_LIMIT_FACTOR,
      parser: measuringParser,
      allowRequest: (request, decide) => this.allowUpgrade(request, decide),
    });
    this.io.use((socket, next) => void this.admit(socket, next));
    this.io.on('connection', (socket) => this.accept(socket));
  }

  get size(): number {
    return this.connections.size;
  }

  /** Tells every client. */
  tell(notice: ServerPush<'server_notice'>): void {
    for (const { outbox } of this.connections.keys()) outbox.push('server_notice', notice);
  }

  attach(server: HttpServer): void {
    this.io.attach(server);
  }

  /** From now on nobody is let in; those who are here are told, and cut off one by one, with jitter, over at most `spreadMs` (R18). */
  async drain(spreadMs: number): Promise<void> {
    this.draining = true;
    const leaving = [...this.connections.keys()];
    for (const connection of leaving) {
      connection.outbox.push('server_notice', {
        code: 'service.draining',
        message: 'This gateway is going away; connect again.',
        retry_after_ms: 0,
      });
    }
    const slotMs = Math.min(SLOT_MS, spreadMs / Math.max(1, leaving.length));
    await Promise.all(
      leaving.map(async (connection, index) => {
        await delay((index + Math.random()) * slotMs);
        await Promise.race([this.dispatcher.settle(connection), delay(spreadMs)]);
        connection.outbox.close();
      }),
    );
  }

  /** Cuts every connection that is left and gives up the endpoint. The HTTP server stays the caller's to close. */
  close(): void {
    this.draining = true;
    for (const connection of [...this.connections.keys()]) connection.outbox.cut();
    this.io.engine.close();
  }

  private allowUpgrade(request: IncomingMessage, decide: (message: string | null, allowed: boolean) => void): void {
    const refused = this.refusalOf(request);
    if (refused === undefined) return decide(null, true);
    const { logger, metrics } = this.options;
    const correlationId = newCorrelationId();
    metrics.errorSeen(refused.code);
    logger.info({ code: refused.code, correlation_id: correlationId }, 'upgrade refused');
    refuseUpgrade(request, refused, correlationId);
    // engine.io destroys the socket when it hears the decision: the answer goes first.
    request.socket.once('close', () => decide(refused.message, false));
  }

  private refusalOf(request: IncomingMessage): AppError | undefined {
    if (this.draining) {
      return new AppError('service.draining', 'This gateway is going away; connect again.', { retryAfterMs: 1000 });
    }
    const { origin, host } = request.headers;
    if (isOriginAllowed({ origin, host }, this.options.origins)) return undefined;
    return new AppError('auth.origin_refused', 'Pages of this origin may not connect.');
  }

  private async admit(socket: GatewaySocket, next: (error?: Error) => void): Promise<void> {
    const correlationId = newCorrelationId();
    try {
      const signedIn = await signIn(socket.handshake.auth, this.options.tokens);
      socket.data = { signedIn, hello: await this.options.hello(signedIn), correlationId };
      next();
    } catch (thrown) {
      const error = toAppError(thrown);
      this.options.metrics.errorSeen(error.code);
      logError(this.options.logger, error, { correlation_id: correlationId, event: 'handshake' });
      next(new HandshakeRefused(error, correlationId));
    }
  }

  private accept(socket: GatewaySocket): void {
    const { logger, metrics, clock, outboxBounds } = this.options;
    const { signedIn, hello, correlationId } = socket.data;
    const outbox = new Outbox(socket, outboxBounds);
    const connection = new ClientConnection({ connectionId: socket.id, ...signedIn, outbox });
    const openedAt = clock.monotonicMs();
    const facts = {
      connection_id: socket.id,
      user_id: signedIn.user.userId,
      client_id: signedIn.clientId,
      correlation_id: correlationId,
    };
    this.connections.set(connection, socket);
    metrics.connectionOpened();
    socket.once('disconnect', (reason) => {
      this.connections.delete(connection);
      connection.end();
      // A client that left only socket.io's namespace could come back on the same connection: it signs in on a new one.
      outbox.close();
      metrics.connectionClosed();
      logger.info({ ...facts, reason, duration_ms: Math.round(clock.monotonicMs() - openedAt) }, 'connection closed');
    });
    this.dispatcher.bind(socket, connection);
    outbox.push('hello', hello);
    logger.info(facts, 'connection opened');
    if (this.draining) outbox.close();
  }
}
