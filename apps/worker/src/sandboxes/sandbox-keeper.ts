// One connection to each sandbox, under the epoch of this holding of the host. Starts a sandbox when a run needs it.
import type {
  ClaimedRun,
  Committed,
  ExecutionStore,
  HostLease,
  SandboxConnection,
  SandboxLimits,
  SandboxRuntime,
  SandboxSummary,
} from '#domain';
import { AppError, type Clock, isAppError } from '#kernel';
import type { Logger } from '#observability';
import { logError } from '#observability';
import { workspaceOwner } from './workspace-owner.js';

export interface SandboxKeeperParts {
  lease: HostLease;
  runtime: SandboxRuntime;
  executions: Pick<ExecutionStore, 'sandboxStarted' | 'appendEvents'>;
  announce: (committed: Committed<void>) => Promise<void>;
  /** Image of projects that name none. */
  image: string;
  limits: SandboxLimits;
  clock: Clock;
  logger: Logger;
}

export class SandboxKeeper {
  private readonly connections = new Map<string, Promise<SandboxConnection>>();
  private closed = false;

  constructor(private readonly parts: SandboxKeeperParts) {}

  /**
   * The connection to the sandbox of a run; made, with its container, if there is none. Throws the runtime's errors,
   * `project.path_not_writable`, and `host.lease_lost` after `close`.
   */
  async connect(claimed: ClaimedRun): Promise<SandboxConnection> {
    const known = this.connections.get(claimed.sandboxId);
    if (known !== undefined) return known;
    const { sandboxId } = claimed;
    const opening = this.open(claimed);
    this.connections.set(sandboxId, opening);
    const forget = () => {
      if (this.connections.get(sandboxId) === opening) this.connections.delete(sandboxId);
    };
    try {
      const connection = await opening;
      void connection.closed.then(({ code }) => {
        forget();
        this.parts.logger.info({ sandbox_id: sandboxId, code }, 'sandbox connection closed');
      });
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** The connections that stand. */
  async standing(): Promise<SandboxConnection[]> {
    const settled = await Promise.allSettled(this.connections.values());
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** Closes every connection; the sandboxes go on. */
  async close(): Promise<void> {
    this.closed = true;
    for (const connection of await this.standing()) connection.close();
  }

  private async open(claimed: ClaimedRun): Promise<SandboxConnection> {
    const before = this.parts.clock.monotonicMs();
    const attached = await this.attachIfRunning(claimed.sandboxId);
    if (attached !== undefined) return attached;
    const summary = await this.ensure(claimed);
    const connection = await this.attach(claimed.sandboxId);
    await this.recordStart(claimed, summary, connection.bootId, Math.round(this.parts.clock.monotonicMs() - before));
    return connection;
  }

  /** A sandbox that runs is reached over its own socket, so Docker may be away. */
  private async attachIfRunning(sandboxId: string): Promise<SandboxConnection | undefined> {
    try {
      return await this.attach(sandboxId);
    } catch (error) {
      if (isAppError(error) && (error.code === 'sandbox.lost' || error.code === 'sandbox.connection_lost'))
        return undefined;
      throw error;
    }
  }

  private async attach(sandboxId: string): Promise<SandboxConnection> {
    const connection = await this.parts.runtime.connect(sandboxId, { hostEpoch: this.parts.lease.epoch });
    if (!this.closed) return connection;
    connection.close();
    throw new AppError('host.lease_lost', 'This worker does not hold the host any more.');
  }

  private async ensure({ sandboxId, project, run }: ClaimedRun): Promise<SandboxSummary> {
    const { runtime, image, limits } = this.parts;
    const owner = await workspaceOwner(project.path);
    return runtime.ensure({
      sandboxId,
      projectId: project.projectId,
      image: project.image ?? image,
      workspacePath: project.path,
      ...owner,
      limits,
      labels: { correlation_id: run.correlationId },
    });
  }

  private async recordStart(
    claimed: ClaimedRun,
    summary: SandboxSummary,
    bootId: string,
    readyMs: number,
  ): Promise<void> {
    const { executions, announce, logger } = this.parts;
    const image = claimed.project.image ?? this.parts.image;
    const { sandboxId, run } = claimed;
    logger.info({ sandbox_id: sandboxId, run_id: run.runId, ready_ms: readyMs }, 'sandbox started');
    try {
      await executions.sandboxStarted(sandboxId, { containerId: summary.containerId, bootId, image });
      const fence = { runId: run.runId, runEpoch: run.epoch };
      const payload = { image, ready_ms: readyMs };
      await announce(await executions.appendEvents(fence, [{ type: 'sandbox.started', runId: run.runId, payload }]));
    } catch (error) {
      // The sandbox is there all the same; if the run is another worker's now, its next write says so.
      logError(logger, error, { doing: 'record sandbox start', sandbox_id: sandboxId });
    }
  }
}
