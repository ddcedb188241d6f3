// Binds the catalogue of client events to a socket: every event is checked, served in order and acknowledged exactly once.
import type { Socket } from 'socket.io';
import { AppError, type Clock, ERROR_POLICY, toAppError, KeyedQueue } from '#kernel';
import { type Logger, type Metrics, newCorrelationId } from '#observability';
import { type Ack, CLIENT_EVENTS } from '#protocol';
import { type AccessPolicy, type Grant, scopeOf } from './access.js';
import type { ClientConnection } from './client-connection.js';
import { toErrorObject } from './error-object.js';
import { frameBytes } from './frame-decoder.js';
import { knownEvent } from './handler-table.js';
import { invalidPayload, parsePayload } from './payload.js';
import { RefusalLog } from './refusal-log.js';
import { logRequest } from './request-log.js';
import type { HandlerTable, RequestContext } from './request-context.js';

export interface DispatcherOptions {
  handlers: HandlerTable;
  access: AccessPolicy;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Largest event, in bytes of its frames. */
  maxFrameBytes: number;
  /** A request that takes longer is answered with `service.timeout`. */
  requestDeadlineMs: number;
  /** Requests of one client that may be under way or waiting. */
  maxPending: number;
  /** Refused requests of one client that are logged within a minute. */
  loggedRefusals: number;
}

type AckFunction = (answer: Ack<unknown>) => void;

interface Incoming {
  event: unknown;
  payload: unknown;
  /** Arguments beyond the payload: a client of ours sends none. */
  surplus: boolean;
  bytes: number;
}

/** A handler whose request and context were made for its own event. */
type AnyHandler = (request: object, context: RequestContext & Partial<Grant>) => Promise<unknown>;

interface Call {
  answer: (context: RequestContext) => Promise<unknown>;
  /** Requests under one key keep their order. */
  orderKey: string | undefined;
}

export class Dispatcher {
  private readonly underWay = new Map<ClientConnection, Set<Promise<void>>>();
  private closing = false;

  constructor(private readonly options: DispatcherOptions) {}

  /** From now on the socket's events are answered here and nowhere else. */
  bind(socket: Socket, connection: ClientConnection): void {
    const queue = new KeyedQueue();
    const pending = new Set<Promise<void>>();
    this.underWay.set(connection, pending);
    const refusals = this.refusalLogOf(connection);
    let gone = false;
    const forget = () => {
      if (!gone || pending.size > 0) return;
      this.underWay.delete(connection);
      refusals.end();
    };
    socket.once('disconnect', () => {
      gone = true;
      forget();
    });
    // A middleware that never calls on: the event does not become one of the socket's EventEmitter, whatever its name.
    socket.use((packet: unknown[]) => {
      const { incoming, ack } = unpack(packet);
      const full = pending.size >= this.options.maxPending;
      const served = this.serve(incoming, { connection, ack, queue, full, refusals }).finally(() => {
        pending.delete(served);
        forget();
      });
      pending.add(served);
    });
  }

  /** Resolves when the requests that this connection has sent so far are answered. */
  async settle(connection: ClientConnection): Promise<void> {
    await Promise.all([...(this.underWay.get(connection) ?? [])]);
  }

  /** Requests whose turn has not come are dropped: nobody is there for the answer. Resolves when the others are done. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.underWay.keys()].map((connection) => this.settle(connection)));
  }

  private async serve(incoming: Incoming, peer: Peer): Promise<void> {
    const { connection, ack, queue, full, refusals } = peer;
    const afterAck: (() => void)[] = [];
    const context: RequestContext = {
      user: connection.user,
      connection,
      correlationId: newCorrelationId(),
      afterAck: (action) => afterAck.push(action),
    };
    const startedAt = this.options.clock.monotonicMs();
    const finish = (outcome: Outcome) => {
      ack?.(outcome.error === undefined ? { ok: true, data: outcome.data } : refusal(outcome.error, context));
      if (outcome.error === undefined) for (const action of afterAck) action();
      this.record(incoming.event, { context, refusals }, outcome.error, startedAt);
    };
    const prepared = this.prepare(incoming, full);
    if (prepared instanceof AppError) return finish({ error: prepared });
    const task = async () => {
      if (!this.closing) finish(await this.outcomeOf(prepared, context));
    };
    await (prepared.orderKey === undefined ? task() : queue.run(prepared.orderKey, task));
  }

  /** Everything that can be said about a request without asking anybody. */
  private prepare({ event: name, payload, surplus, bytes }: Incoming, full: boolean): Call | AppError {
    const { maxFrameBytes, maxPending, handlers, access } = this.options;
    try {
      if (bytes > maxFrameBytes) throw tooLarge(bytes, maxFrameBytes);
      const event = knownEvent(name);
      if (event === undefined) throw new AppError('request.unknown_event', 'There is no such event.');
      if (full) throw tooMany(maxPending);
      if (surplus) throw invalidPayload([{ path: '', message: 'must be one object' }]);
      const request = parsePayload<object>(CLIENT_EVENTS[event].request, payload ?? {});
      const handle = handlers[event] as AnyHandler;
      return {
        orderKey: scopeOf(request as Record<string, unknown>)?.id,
        answer: async (context) => {
          const grant = await access.authorize(event, request, context.user);
          return handle(request, { ...context, ...grant });
        },
      };
    } catch (thrown) {
      return toAppError(thrown);
    }
  }

  /** Never rejects, and never takes longer than the deadline. */
  private async outcomeOf(call: Call, context: RequestContext): Promise<Outcome> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new AppError('service.timeout', 'The request took too long.')),
        this.options.requestDeadlineMs,
      );
    });
    try {
      return { data: await Promise.race([call.answer(context), late]) };
    } catch (thrown) {
      return { error: toAppError(thrown) };
    } finally {
      clearTimeout(timer);
    }
  }

  private record(
    event: unknown,
    { context: { connection, correlationId }, refusals }: { context: RequestContext; refusals: RefusalLog },
    error: AppError | undefined,
    startedAt: number,
  ): void {
    const { logger, metrics, clock } = this.options;
    if (error !== undefined) metrics.errorSeen(error.code);
    if (error !== undefined && ERROR_POLICY[error.kind].blame === 'caller' && !refusals.take()) return;
    const line = {
      // The name of an event that is not ours is whatever a client typed.
      event: knownEvent(event) ?? 'unknown',
      connection_id: connection.connectionId,
      user_id: connection.user.userId,
      correlation_id: correlationId,
      duration_ms: Math.round(clock.monotonicMs() - startedAt),
    };
    logRequest(logger, line, error);
  }

  private refusalLogOf({ connectionId, user }: ClientConnection): RefusalLog {
    const { logger, clock, loggedRefusals } = this.options;
    const facts = { connection_id: connectionId, user_id: user.userId };
    return new RefusalLog({
      perMinute: loggedRefusals,
      nowMs: () => clock.monotonicMs(),
      tell: (suppressed) => logger.warn({ ...facts, suppressed }, 'refusals not logged'),
    });
  }
}

/** Where a request came from, and what is kept with that connection. */
interface Peer {
  connection: ClientConnection;
  ack: AckFunction | undefined;
  queue: KeyedQueue;
  /** Whether as many requests wait as may. */
  full: boolean;
  refusals: RefusalLog;
}

type Outcome = { data: unknown; error?: undefined } | { error: AppError };

const refusal = (error: AppError, { correlationId }: RequestContext): Ack<never> => ({
  ok: false,
  error: toErrorObject(error, correlationId),
});

function unpack(packet: unknown[]): { incoming: Incoming; ack: AckFunction | undefined } {
  const [event, ...rest] = packet;
  const last = rest.at(-1);
  const ack = typeof last === 'function' ? (last as AckFunction) : undefined;
  const args = ack === undefined ? rest : rest.slice(0, -1);
  return { incoming: { event, payload: args[0], surplus: args.length > 1, bytes: frameBytes(packet) }, ack };
}

const tooLarge = (bytes: number, limit: number): AppError =>
  new AppError('request.too_large', 'The message is larger than the limit.', {
    details: { bytes, max_frame_bytes: limit },
  });

const tooMany = (limit: number): AppError =>
  new AppError('request.rate_limited', 'Too many requests are waiting for their answers.', {
    details: { max_pending: limit },
    retryAfterMs: 500,
  });
