// Listens for workers on a unix socket that no job can reach, and keeps those of the highest host epoch (R4).
import { chmodSync, rmSync, statSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { dirname } from 'node:path';
import { ClientConnection, type ConnectionOptions } from './client-connection.js';

export class SupervisorServer {
  private readonly connections = new Set<ClientConnection>();
  private readonly server: Server;

  constructor(options: Omit<ConnectionOptions, 'onNewHostEpoch'>) {
    this.server = createServer((socket) => {
      const connection = new ClientConnection(socket, {
        ...options,
        onNewHostEpoch: (hostEpoch) => this.dropBelow(hostEpoch),
      });
      this.connections.add(connection);
      socket.once('close', () => this.connections.delete(connection));
    });
  }

  /**
   * Replaces what an earlier boot left at `path`. No job can reach its folder. The worker's user on the host, to whom the folder
   * belongs, must be able to connect: if that is not root, what keeps others out there is the folder above.
   */
  async listen(path: string): Promise<void> {
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(path, resolve);
    });
    chmodSync(path, statSync(dirname(path)).uid === 0 ? 0o600 : 0o666);
  }

  close(): void {
    this.server.close();
    for (const connection of this.connections) connection.end('sandbox.connection_lost');
  }

  private dropBelow(hostEpoch: number): void {
    for (const connection of this.connections) {
      if (connection.hostEpoch !== null && connection.hostEpoch < hostEpoch) connection.end('sandbox.epoch_stale');
    }
  }
}
