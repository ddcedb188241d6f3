// A proxy in front of a service, TCP or unix socket, that tests can cut and heal.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type SocketAddress = { port: number; host?: string } | { path: string };

export interface SocketProxy {
  /** Of a TCP proxy; 0 for a unix socket. */
  readonly port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Lets connections through (again), at the same address. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 (port 0: any free one) or on a unix path. `cut: true`: not there until `heal`. */
export async function startSocketProxy(
  listen: { port: number } | { path: string },
  target: SocketAddress,
  { cut: startCut = false } = {},
): Promise<SocketProxy> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 'port' in listen ? listen.port : 0;
  const carry = (client: Socket) => {
    const upstream = connect(target);
    const pair = [client, upstream];
    for (const socket of pair) {
      sockets.add(socket);
      // A broken end breaks the other; who waits on either sees it there.
      socket.on('error', () => pair.forEach((one) => one.destroy()));
      socket.on('close', () => {
        sockets.delete(socket);
        pair.forEach((one) => one.destroy());
      });
    }
    client.pipe(upstream).pipe(client);
  };
  const heal = async () => {
    if (server !== undefined) return;
    server = createServer({ allowHalfOpen: true }, carry);
    server.listen('path' in listen ? listen : { port, host: '127.0.0.1' });
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  };
  const cut = async () => {
    const closing = server;
    server = undefined;
    const closed = closing === undefined ? undefined : once(closing, 'close');
    closing?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  if (!startCut) await heal();
  return {
    get port() {
      return port;
    },
    cut,
    heal,
    close: cut,
  };
}
