// A proxy before a service, TCP or unix socket, that misbehaves as a network does: slow, cut, half-open, or deaf to single requests.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from './deferred.js';
import type { SocketAddress } from './socket-proxy.js';

/** What happens to single requests. Each is the probability that a piece of bytes from a client meets this end, 0 to 1. */
export interface Mishaps {
  /** The connection breaks before the service hears it. */
  reject: number;
  /** Nobody answers for `hangMs`; then the connection breaks. The service never hears it. */
  hang: number;
  hangMs: number;
  /** The service carries it out; the connection breaks instead of the answer. */
  runThenReject: number;
}

/** How many requests met which end. */
export type MishapCounts = Record<'reject' | 'hang' | 'runThenReject', number>;

const NO_MISHAPS: Mishaps = { reject: 0, hang: 0, hangMs: 0, runThenReject: 0 };

type Fate = 'pass' | keyof MishapCounts;

export interface FaultProxyOptions {
  /** 127.0.0.1 on this port (0: any free one), or a unix path. */
  listen: { port: number } | { path: string };
  target: SocketAddress;
  /** Decides about mishaps; numbers from 0 to below 1. */
  random?: () => number;
}

/** One client's connection and the one to the service behind it. */
class Pair {
  private readonly over = new AbortController();
  /** The next answer is not passed on, but ends the connection. */
  swallowing = false;

  constructor(
    readonly client: Socket,
    readonly service: Socket,
  ) {}

  get signal(): AbortSignal {
    return this.over.signal;
  }

  break(): void {
    this.over.abort();
    this.client.destroy();
    this.service.destroy();
  }
}

export class FaultProxy {
  readonly counts: MishapCounts = { reject: 0, hang: 0, runThenReject: 0 };
  private readonly pairs = new Set<Pair>();
  private server: Server | undefined;
  private boundPort = 0;
  private mishaps: Mishaps = NO_MISHAPS;
  private latencyMs: () => number = () => 0;
  private thaw = new Deferred<void>();

  private constructor(private readonly options: FaultProxyOptions) {
    this.boundPort = 'port' in options.listen ? options.listen.port : 0;
    this.thaw.resolve();
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await proxy.heal();
    return proxy;
  }

  /** Of a TCP proxy; the same over cuts. */
  get port(): number {
    return this.boundPort;
  }

  /** Breaks every connection and refuses new ones, until `heal`. */
  async cut(): Promise<void> {
    const closing = this.server;
    this.server = undefined;
    const closed = closing === undefined ? undefined : once(closing, 'close');
    closing?.close();
    for (const pair of this.pairs) pair.break();
    await closed;
  }

  /** Half-open: connections stand and new ones are taken, and nothing comes through in either direction, until `heal`. */
  freeze(): void {
    this.thaw = new Deferred<void>();
  }

  /** Lets everything through again: new connections, and what waited in those that stand. */
  async heal(): Promise<void> {
    this.thaw.resolve();
    if (this.server !== undefined) return;
    const server = createServer({ allowHalfOpen: true }, (client) => this.accept(client));
    this.server = server;
    const { listen } = this.options;
    server.listen('path' in listen ? listen : { port: this.boundPort, host: '127.0.0.1' });
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') this.boundPort = address.port;
  }

  /** Holds each piece of bytes back for as long as `latencyMs` says, ms, in each direction; the order within a connection stays. */
  slow(latencyMs: () => number): void {
    this.latencyMs = latencyMs;
  }

  /** From now on requests meet these ends; without an argument none does. */
  befall(mishaps: Mishaps = NO_MISHAPS): void {
    this.mishaps = mishaps;
  }

  async close(): Promise<void> {
    this.thaw.resolve();
    await this.cut();
  }

  private accept(client: Socket): void {
    const pair = new Pair(client, connect({ ...this.options.target, allowHalfOpen: true }));
    this.pairs.add(pair);
    for (const socket of [pair.client, pair.service]) {
      // A broken end breaks the other; who waits on either sees it there.
      socket.on('error', () => pair.break());
      socket.on('close', () => {
        pair.break();
        this.pairs.delete(pair);
      });
    }
    void this.carry(pair, 'request');
    void this.carry(pair, 'answer');
  }

  /** Never rejects: whatever goes wrong breaks the connection, which is what a network does. */
  private async carry(pair: Pair, direction: 'request' | 'answer'): Promise<void> {
    const [from, to] = direction === 'request' ? [pair.client, pair.service] : [pair.service, pair.client];
    try {
      for await (const bytes of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        await this.thaw.promise;
        const latency = this.latencyMs();
        if (latency > 0) await delay(latency, undefined, { signal: pair.signal });
        if (!(await this.mayPass(pair, direction))) return pair.break();
        if (!to.write(bytes)) await once(to, 'drain', { signal: pair.signal });
      }
      to.end();
    } catch {
      pair.break();
    }
  }

  private async mayPass(pair: Pair, direction: 'request' | 'answer'): Promise<boolean> {
    if (direction === 'answer') return !pair.swallowing;
    const fate = this.fate();
    if (fate === 'pass') return true;
    this.counts[fate] += 1;
    if (fate === 'hang') await delay(this.mishaps.hangMs, undefined, { signal: pair.signal });
    pair.swallowing = fate === 'runThenReject';
    return pair.swallowing;
  }

  private fate(): Fate {
    const { reject, hang, runThenReject } = this.mishaps;
    if (reject + hang + runThenReject === 0) return 'pass';
    const drawn = (this.options.random ?? Math.random)();
    if (drawn < reject) return 'reject';
    if (drawn < reject + hang) return 'hang';
    return drawn < reject + hang + runThenReject ? 'runThenReject' : 'pass';
  }
}
