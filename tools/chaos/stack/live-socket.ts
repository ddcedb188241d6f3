// A socket.io client as a careful program would write it: it connects to any gateway that is there, again and again, and asks again.
import { setTimeout as delay } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import { Deferred } from '#testing';
import type { Seeded } from '../seeded.ts';

export interface LiveSocketOptions {
  /** Gateways that are there now. */
  urls: () => readonly string[];
  token: string;
  random: Seeded;
  /** Called after each connection, before `ready` resolves. What it throws ends the connection. */
  opened?: (socket: Socket) => Promise<void>;
  /** Every push. */
  heard?: (event: string, payload: Data) => void;
}

/** What a gateway refused, by its error object. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(event: string, error: { code: string; message: string; retryable: boolean; retry_after_ms?: number }) {
    super(`${event}: ${error.code}: ${error.message}`);
    this.code = error.code;
    this.retryable = error.retryable;
    this.retryAfterMs = error.retry_after_ms;
  }
}

type Answer = { ok: true; data: unknown } | { ok: false; error: ConstructorParameters<typeof Refusal>[1] };
export type Data = Record<string, unknown>;

const ANSWER_MS = 20_000;
const CONNECT_MS = 5_000;
const PAUSE_MS = 100;
const BREATH_MS = 5;
const LONGEST_PAUSE_MS = 1_000;

/** Asks once. Throws `Refusal`, or another error when no answer comes. `answered` is called at the very moment of the answer. */
export function ask(socket: Socket, event: string, payload: Data, answered?: () => void): Promise<Data> {
  return new Promise((resolve, reject) => {
    socket.timeout(ANSWER_MS).emit(event, payload, (silence: Error | null, answer: Answer) => {
      if (silence !== null) return reject(silence);
      if (!answer.ok) return reject(new Refusal(event, answer.error));
      answered?.();
      resolve(answer.data as Data);
    });
  });
}

export class LiveSocket {
  /** How often an answer was a refusal, by code. */
  readonly refusals = new Map<string, number>();
  /** Requests that got no answer, because the connection broke or nobody answered in time. */
  unanswered = 0;
  /** Refusals that do not say that trying again helps. */
  readonly unclean: string[] = [];
  connections = 0;
  readonly #options: LiveSocketOptions;
  #ready = new Deferred<Socket>();
  #socket: Socket | undefined;
  #closed = false;
  readonly #over: Promise<void>;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#over = this.#stayConnected();
  }

  /** The connection, once it stands. */
  get ready(): Promise<Socket> {
    return this.#ready.promise;
  }

  /**
   * Asks until there is an answer: after a broken connection and after a refusal that is retryable the same request goes out again, so
   * what it creates needs an idempotency key. Throws `Refusal` for one that is not retryable, and at the deadline.
   */
  async call(event: string, payload: Data, deadlineMs = 180_000): Promise<Data> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      if (performance.now() > end) throw new Error(`${event}: no answer within ${deadlineMs} ms`);
      const socket = await this.ready;
      if (!socket.connected) {
        await delay(BREATH_MS); // it is being replaced
        continue;
      }
      try {
        return await ask(socket, event, payload);
      } catch (error) {
        if (error instanceof Refusal) await this.#refused(error);
        else this.#lost(socket);
      }
    }
  }

  /** Breaks the connection as a lost network does; it comes back by itself. */
  cut(): void {
    this.#socket?.io.engine.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#socket?.disconnect();
    await this.#over;
  }

  async #refused(error: Refusal): Promise<void> {
    this.refusals.set(error.code, (this.refusals.get(error.code) ?? 0) + 1);
    if (!error.retryable) {
      this.unclean.push(error.message);
      throw error;
    }
    await delay(Math.min(error.retryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS));
  }

  #lost(socket: Socket): void {
    this.unanswered += 1;
    socket.disconnect();
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closed) {
      const socket = await this.#connect();
      if (socket === undefined) {
        await delay(PAUSE_MS);
        continue;
      }
      this.connections += 1;
      this.#socket = socket;
      const gone = new Promise<void>((resolve) => {
        socket.once('disconnect', () => {
          resolve();
        });
      });
      try {
        await this.#options.opened?.(socket);
      } catch {
        socket.disconnect(); // it went away again: the next one is asked the same
        continue;
      }
      this.#ready.resolve(socket);
      if (socket.connected) await gone;
      this.#ready = new Deferred<Socket>();
    }
    this.#ready.promise.catch(() => undefined); // nobody may be waiting
    this.#ready.reject(new Error('The client was closed.'));
  }

  /** Undefined when this gateway cannot be reached now. */
  async #connect(): Promise<Socket | undefined> {
    const urls = this.#options.urls();
    if (urls.length === 0) return undefined;
    const { token, random, heard } = this.#options;
    const socket = io(random.pick(urls), {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      timeout: CONNECT_MS,
      auth: { token, protocol: 1 },
    });
    if (heard !== undefined) socket.onAny((event: string, payload: Data) => heard(event, payload));
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), CONNECT_MS);
      const settle = (result: Socket | undefined): void => {
        clearTimeout(timer);
        if (result === undefined) socket.disconnect();
        resolve(result);
      };
      socket.once('hello', () => settle(socket));
      socket.once('connect_error', () => settle(undefined));
      socket.once('disconnect', () => settle(undefined));
    });
  }
}
