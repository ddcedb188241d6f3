// A client that reads a command's output by offset over every loss of its connection, and hashes what it read.
import { createHash, type Hash } from 'node:crypto';
import type { Socket } from 'socket.io-client';
import { Deferred } from '#testing';
import type { ChaosStack } from './chaos-stack.ts';
import { ask, type Data, type LiveSocket } from './live-socket.ts';

/** Bytes read between two acknowledgements. */
const ACK_EVERY = 64 * 1024;

interface Engine {
  transport: { ws: { pause(): void; resume(): void; isPaused: boolean } };
}

export class OutputViewer {
  readonly faults: string[] = [];
  readonly socket: LiveSocket;
  next = 0;
  readonly #streamId: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #end = new Deferred<string>();
  readonly #windowBytes: number;
  #acked = 0;
  #current: Socket | undefined;

  constructor(stack: ChaosStack, name: string, streamId: string, options: { windowBytes?: number } = {}) {
    this.#streamId = streamId;
    this.#windowBytes = options.windowBytes ?? 256 * 1024;
    this.socket = stack.socket(`output/${name}`, {
      opened: (socket) => this.#subscribe(socket),
      heard: (event, payload) => this.#heard(event, payload),
    });
  }

  /** The hash of all bytes, SHA-256 in hex, once the stream has ended. */
  get ended(): Promise<string> {
    return this.#end.promise;
  }

  /** Leaves what comes unread, in the buffers of the kernel and of the gateway. */
  stopReading(): void {
    websocketOf(this.#current).pause();
  }

  /** Reads again what stands in the connection, if it still stands. */
  readAgain(): void {
    if (this.#current?.connected === true) websocketOf(this.#current).resume();
  }

  /** Claims to have read up to there, whether it is true or not. The answer is not waited for. */
  acknowledge(offset: number): void {
    this.#current?.emit('stream_ack', { stream_id: this.#streamId, acked_offset: offset }, () => undefined);
  }

  async #subscribe(socket: Socket): Promise<void> {
    this.#current = socket;
    this.#acked = this.next;
    const request = { stream_id: this.#streamId, from_offset: this.next, window_bytes: this.#windowBytes };
    const { start_offset: start } = await ask(socket, 'stream_subscribe', request);
    if (start !== this.next) this.faults.push(`subscribed at ${String(start)} instead of ${this.next}`);
  }

  #heard(event: string, payload: Data): void {
    if (payload['stream_id'] !== this.#streamId) return;
    if (event === 'stream_end') {
      if (payload['end_offset'] !== this.next)
        this.faults.push(`ended at ${String(payload['end_offset'])}, read ${this.next}`);
      this.#end.resolve(this.#hash.copy().digest('hex'));
    }
    if (event !== 'stream_data') return;
    const { offset, data } = payload as unknown as { offset: number; data: Buffer };
    if (offset !== this.next) this.faults.push(`bytes at ${offset} instead of ${this.next}`);
    this.#hash.update(data);
    this.next = offset + data.byteLength;
    if (this.next - this.#acked < ACK_EVERY) return;
    this.#acked = this.next;
    this.acknowledge(this.next);
  }
}

const websocketOf = (socket: Socket | undefined): Engine['transport']['ws'] => {
  if (socket === undefined) throw new Error('The viewer was never connected.');
  return (socket.io.engine as unknown as Engine).transport.ws;
};
