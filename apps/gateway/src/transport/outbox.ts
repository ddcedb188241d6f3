// What the gateway sends to one client, with a count of the bytes that the client has not taken yet (R17). socket.io itself has no
// back-pressure: a client that answers pings but does not read would grow the server's memory without bound.
import type { ServerEventName, ServerPush } from '#protocol';

export interface OutboxBounds {
  /** Above this, text that is still being written is dropped: the finished message comes as an event. */
  deltaBytes: number;
  /** Above this, durable events and streams wait until the client has read. */
  holdBytes: number;
  /** Above this, the connection is closed: only answers that nobody reads can bring it there. */
  closeBytes: number;
}

export const DEFAULT_OUTBOX_BOUNDS: OutboxBounds = {
  deltaBytes: 256 * 1024,
  holdBytes: 1024 * 1024,
  closeBytes: 16 * 1024 * 1024,
};

/** The parts of an engine.io connection that count bytes; its events are documented in engine.io's README. */
export interface EngineConnection {
  on(event: 'packetCreate', listener: (packet: { data?: unknown }) => void): unknown;
  on(event: 'flush', listener: () => void): unknown;
  readonly transport: {
    on(event: 'drain', listener: () => void): unknown;
    /** The websocket itself (`ws`). */
    readonly socket?: { terminate(): void };
  };
  /** Waits until everything is sent, unless it is discarded. */
  close(discard?: boolean): void;
}

export interface OutboxSocket {
  emit(event: string, payload: unknown): unknown;
  readonly conn: EngineConnection;
}

const sizeOf = (data: unknown): number => {
  if (typeof data === 'string') return Buffer.byteLength(data);
  return ArrayBuffer.isView(data) || data instanceof ArrayBuffer ? data.byteLength : 0;
};

export class Outbox {
  /** Created, not yet handed to the transport. */
  private queued = 0;
  /** Handed to the transport, not yet taken by the operating system. */
  private sending = 0;
  private closed = false;
  private readonly drainListeners = new Set<() => void>();

  constructor(
    private readonly socket: OutboxSocket,
    private readonly bounds: OutboxBounds = DEFAULT_OUTBOX_BOUNDS,
  ) {
    const { conn } = socket;
    conn.on('packetCreate', ({ data }) => {
      this.queued += sizeOf(data);
      if (this.pendingBytes > bounds.closeBytes) this.cut();
    });
    conn.on('flush', () => {
      this.sending += this.queued;
      this.queued = 0;
    });
    // Websocket only: the transport of a connection never changes.
    conn.transport.on('drain', () => this.drained());
  }

  get pendingBytes(): number {
    return this.queued + this.sending;
  }

  /** The client does not read as fast as we send: what can wait must wait. */
  get congested(): boolean {
    return this.pendingBytes > this.bounds.holdBytes;
  }

  push<E extends ServerEventName>(event: E, payload: ServerPush<E>): void {
    if (!this.closed) this.socket.emit(event, payload);
  }

  /** Sends text that may be lost; false when it was dropped because the client is behind. */
  pushDelta(payload: ServerPush<'delta'>): boolean {
    if (this.pendingBytes > this.bounds.deltaBytes) return false;
    this.push('delta', payload);
    return true;
  }

  /** Called each time the client has taken what was sent. */
  onDrain(listener: () => void): () => void {
    this.drainListeners.add(listener);
    return () => this.drainListeners.delete(listener);
  }

  /** Ends the connection after what is on its way, so that the client's own reconnecting sets in (a socket.io `disconnect` would suppress it). */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.conn.close();
  }

  /** Ends the connection now: a client that does not read would never let it end in good order, and would keep what waits for it. */
  cut(): void {
    this.closed = true;
    this.socket.conn.close(true);
    this.socket.conn.transport.socket?.terminate();
  }

  private drained(): void {
    this.sending = 0;
    for (const listener of [...this.drainListeners]) listener();
  }
}
