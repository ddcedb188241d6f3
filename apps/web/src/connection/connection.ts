// The connection to the server: typed calls and pushes over socket.io, and its own way of coming back.
import { type ClientEventName, type ClientRequest, PROTOCOL } from '#protocol';
import { io, type Socket } from 'socket.io-client';
import { clientProblem, type ClientProblemCode, type Problem, ProblemError, readProblem } from '../state/problem.js';
import { createStore, type ReadableStore, type Store } from '../state/store.js';
import { type ConnectionAction, connectionReducer, type ConnectionState, retryDelayMs } from './connection-state.js';
import { type AckData, PUSH_NAMES, type Pushes, type PushName, readAck, readPush } from './wire.js';

const CALL_TIMEOUT_MS = 20_000;
const HEARTBEAT_TIMEOUT_MS = 4000;

/** What the rest of the page needs of a connection. */
export interface Connection {
  readonly state: ReadableStore<ConnectionState>;
  /** Sends an event and gives the ack's data. Throws a ProblemError; nothing is sent while not connected. */
  call<E extends ClientEventName>(event: E, payload: ClientRequest<E>): Promise<AckData<E>>;
  /** Calls the listener for each push of that name; the result ends that. */
  on<P extends PushName>(name: P, listener: (push: Pushes[P]) => void): () => void;
}

type Listeners = { [P in PushName]: Set<(push: Pushes[P]) => void> };

export class SocketConnection implements Connection {
  private readonly store: Store<ConnectionState, ConnectionAction>;
  private readonly socket: Socket;
  private readonly listeners = Object.fromEntries(PUSH_NAMES.map((name) => [name, new Set()])) as unknown as Listeners;
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `onUnreadable` hears of pushes that are not what the protocol says. */
  constructor(
    url: string,
    token: string,
    private readonly onUnreadable: (name: PushName) => void = () => undefined,
  ) {
    this.store = createStore<ConnectionState, ConnectionAction>(connectionReducer, { status: 'connecting' });
    this.socket = io(url, {
      transports: ['websocket'],
      auth: { token, protocol: PROTOCOL.max },
      autoConnect: false,
      reconnection: false, // socket.io does not come back after a refusal or a disconnect by the server; we do
      forceNew: true,
    });
    this.bind();
  }

  get state(): ReadableStore<ConnectionState> {
    return this.store;
  }

  open(): void {
    this.socket.connect();
  }

  /** Ends the wait for the next attempt; after a refusal it asks again. */
  retryNow(): void {
    const { status } = this.store.get();
    if (status === 'connected' || status === 'closed') return;
    clearTimeout(this.timer);
    this.store.dispatch({ type: 'retrying' });
    this.socket.connect();
  }

  /** Finds out whether the connection survived (a sleep, another network), and replaces it at once when it did not. */
  async check(): Promise<void> {
    if (this.store.get().status !== 'connected') return this.retryNow();
    try {
      await this.socket.timeout(HEARTBEAT_TIMEOUT_MS).emitWithAck('ping', {});
    } catch {
      // No answer in time, or it broke meanwhile: 'disconnect' leads to the next attempt.
      this.socket.disconnect();
    }
  }

  close(): void {
    clearTimeout(this.timer);
    this.store.dispatch({ type: 'closed' });
    this.socket.disconnect();
  }

  async call<E extends ClientEventName>(event: E, payload: ClientRequest<E>): Promise<AckData<E>> {
    if (this.store.get().status !== 'connected') throw problem('client.offline');
    let raw: unknown;
    try {
      raw = await this.socket.timeout(CALL_TIMEOUT_MS).emitWithAck(event, payload);
    } catch {
      // socket.io gives one error for both; what it says is of no use to a person.
      throw problem(this.socket.connected ? 'client.no_answer' : 'client.connection_lost');
    }
    return readAck(event, raw);
  }

  on<P extends PushName>(name: P, listener: (push: Pushes[P]) => void): () => void {
    this.listeners[name].add(listener);
    return () => this.listeners[name].delete(listener);
  }

  private bind(): void {
    this.socket.on('connect_error', (error: Error & { data?: unknown }) => {
      const refusal = readProblem(error.data);
      if (refusal !== undefined && !refusal.retryable) this.store.dispatch({ type: 'refused', problem: refusal });
      else this.comeBack(refusal);
    });
    this.socket.on('disconnect', () => {
      if (this.store.get().status !== 'refused') this.comeBack();
    });
    for (const name of PUSH_NAMES) {
      this.socket.on(name, (raw: unknown) => {
        const push = readPush(name, raw);
        if (push === undefined) this.onUnreadable(name);
        else this.deliver(name, push);
      });
    }
  }

  private deliver<P extends PushName>(name: P, push: Pushes[P]): void {
    if (name === 'hello') {
      this.attempt = 0;
      this.store.dispatch({ type: 'opened', hello: push as Pushes['hello'] });
    }
    for (const listener of [...this.listeners[name]]) listener(push);
  }

  private comeBack(problem?: Problem): void {
    if (this.store.get().status === 'closed') return;
    clearTimeout(this.timer);
    this.attempt += 1;
    const delay = retryDelayMs(this.attempt, Math.random(), problem?.retryAfterMs);
    const lost = { type: 'lost', attempt: this.attempt, retryAt: Date.now() + delay } as const;
    this.store.dispatch(problem === undefined ? lost : { ...lost, problem });
    this.timer = setTimeout(() => this.retryNow(), delay);
  }
}

function problem(code: ClientProblemCode): ProblemError {
  return new ProblemError(clientProblem(code));
}
