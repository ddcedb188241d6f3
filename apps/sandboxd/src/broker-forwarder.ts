// Forwards a TCP port on the sandbox's loopback to the broker's unix socket, the only way out of a sandbox. Knows nothing of
// what passes. Either side may end its half first; the other half goes on (nothing is lost on a half-close). An error
// on one side cuts the other too, so that a caller sees a broken call and not an early end.
import { type Server, connect, createServer } from 'node:net';

/** Connections at once: a job that opens more is refused, so that it cannot take all of sandboxd's files. */
const MAX_CONNECTIONS = 512;

export interface ForwarderOptions {
  port: number;
  /** The folder is mounted, not the socket: a broker that restarts makes a new one. */
  brokerSocket: string;
  log: (event: string, facts: Record<string, unknown>) => void;
}

export async function startBrokerForwarder({ port, brokerSocket, log }: ForwarderOptions): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const broker = connect({ path: brokerSocket, allowHalfOpen: true });
    client.pipe(broker);
    broker.pipe(client);
    // A unix socket cannot be reset (Node throws ERR_INVALID_HANDLE_TYPE): the broker sees the end of the connection.
    client.on('error', () => broker.destroy());
    broker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === 'connect') log('broker_unreachable', { code: error.code });
      client.resetAndDestroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.on('error', (error) => log('forwarder_error', { message: error.message }));
  return server;
}
