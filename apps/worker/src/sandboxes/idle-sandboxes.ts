// Stops the containers of projects in which nothing has happened for a while. What a finished run left behind - a server that somebody
// looks at - keeps its sandbox; the next run starts a stopped one again.
import type { HostLease, SandboxConnection, SandboxRuntime, SandboxStore } from '#domain';
import { logError, type Logger } from '#observability';

export interface IdleSandboxesParts {
  store: SandboxStore;
  runtime: Pick<SandboxRuntime, 'list' | 'stop'>;
  connectionTo: (sandboxId: string) => Promise<SandboxConnection | undefined>;
  disconnect: (sandboxId: string) => Promise<void>;
  /** Asks Postgres whether this worker still holds the host. */
  stillHeld: () => Promise<boolean>;
  /** How long nothing must have happened, ms; 0 stops none. */
  idleMs: number;
  logger: Logger;
}

export class IdleSandboxes {
  constructor(private readonly parts: IdleSandboxesParts) {}

  async sweep({ hostId }: Pick<HostLease, 'hostId'>): Promise<void> {
    const { store, runtime, idleMs } = this.parts;
    if (idleMs === 0) return;
    const idle = await store.idleSandboxes(hostId, idleMs);
    if (idle.length === 0) return;
    const running = new Set(
      (await runtime.list()).filter(({ state }) => state === 'running').map(({ sandboxId }) => sandboxId),
    );
    for (const { sandboxId } of idle) if (running.has(sandboxId)) await this.stopUnlessUsed(sandboxId, hostId);
  }

  private async stopUnlessUsed(sandboxId: string, hostId: string): Promise<void> {
    const { store, runtime, connectionTo, disconnect, stillHeld, idleMs, logger } = this.parts;
    try {
      const connection = await connectionTo(sandboxId);
      const processes = (await connection?.list()) ?? [];
      const left = processes.filter(({ state, descendants = 0 }) => state === 'running' || descendants > 0);
      if (left.length > 0) {
        logger.debug({ sandbox_id: sandboxId, processes: left.length }, 'an idle sandbox is kept for what runs in it');
        return;
      }
      // Asked again: a run may have come meanwhile. One that comes still later finds its sandbox stopped and starts it again.
      const stillIdle = (await store.idleSandboxes(hostId, idleMs)).some((one) => one.sandboxId === sandboxId);
      if (!stillIdle || !(await stillHeld())) return;
      await disconnect(sandboxId);
      await runtime.stop(sandboxId);
      logger.info({ sandbox_id: sandboxId }, 'idle sandbox stopped');
    } catch (error) {
      logError(logger, error, { doing: 'stop idle sandbox', sandbox_id: sandboxId });
    }
  }
}
