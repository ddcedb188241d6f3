// A socket.io client as a program would write it, with the moments at which things arrived.
import { io, type Socket } from 'socket.io-client';

export interface WireEvent {
  type: string;
  run_id?: string;
  payload: Record<string, unknown>;
}

export class BenchClient {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async connect(url: string, token: string): Promise<BenchClient> {
    const socket = io(url, { transports: ['websocket'], auth: { token, protocol: 1 }, reconnection: false });
    await new Promise<void>((resolve, reject) => {
      socket.once('hello', () => {
        resolve();
      });
      socket.once('connect_error', reject);
    });
    return new BenchClient(socket);
  }

  async call(event: string, payload: Record<string, unknown>): Promise<Record<string, unknown>> {
    const ack = (await this.#socket.timeout(120_000).emitWithAck(event, payload)) as
      { ok: true; data: Record<string, unknown> } | { ok: false; error: { code: string; message: string } };
    if (!ack.ok) throw new Error(`${event}: ${ack.error.code} ${ack.error.message}`);
    return ack.data;
  }

  /** Resolves with the time (performance.now) of the first push that matches. Register before the call that causes it. */
  when<T>(push: string, matches: (payload: T) => boolean): Promise<{ at: number; payload: T }> {
    return new Promise((resolve) => {
      const listener = (payload: T): void => {
        if (!matches(payload)) return;
        this.#socket.off(push, listener);
        resolve({ at: performance.now(), payload });
      };
      this.#socket.on(push, listener);
    });
  }

  close(): void {
    this.#socket.disconnect();
  }
}
