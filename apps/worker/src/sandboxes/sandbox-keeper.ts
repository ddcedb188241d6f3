// One connection to each sandbox, under the epoch of this holding of the host. Starts a sandbox when a run needs it.
import type {
  ClaimedRun,
  Committed,
  ExecutionStore,
  HostLease,
  ProjectRecord,
  RunRecord,
  SandboxConnection,
  SandboxLimits,
  SandboxRuntime,
  SandboxSummary,
  SpareStore,
} from '#domain';
import { type Clock, isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { leaseLost, type LeaseTerm } from '../hosts/lease-term.js';
import { LeasedConnection } from './leased-connection.js';
import { workspaceOwner } from './workspace-owner.js';

export interface SandboxKeeperParts {
  lease: HostLease;
  /** Connections change nothing while it has run out. */
  term: Pick<LeaseTerm, 'running'>;
  runtime: Pick<SandboxRuntime, 'connect' | 'ensure'>;
  executions: Pick<ExecutionStore, 'sandboxStarted' | 'appendEvents'>;
  events: Pick<SpareStore, 'appendHostEvents'>;
  announce: (committed: Committed<void>) => Promise<void>;
  /** Image of projects that name none. */
  image: string;
  limits: SandboxLimits;
  clock: Clock;
  logger: Logger;
}

/** A sandbox, whose it is, and the run that needs it, if there is one already. */
interface Wanted {
  sandboxId: string;
  project: Pick<ProjectRecord, 'projectId' | 'path' | 'image'>;
  run?: Pick<RunRecord, 'runId' | 'epoch' | 'correlationId'>;
}

export class SandboxKeeper {
  private readonly connections = new Map<string, Promise<SandboxConnection>>();
  private closed = false;

  constructor(private readonly parts: SandboxKeeperParts) {}

  /**
   * The connection to the sandbox of a run; made, with its container, if there is none. Throws the runtime's errors,
   * `project.path_not_writable`, and `host.lease_lost` after `close`.
   */
  async connect({ sandboxId, project, run }: ClaimedRun): Promise<SandboxConnection> {
    return this.share(sandboxId, () => this.start({ sandboxId, project, run }));
  }

  /** The same for a project that no run needs yet. */
  async connectProject(project: ProjectRecord, sandboxId: string): Promise<SandboxConnection> {
    return this.share(sandboxId, () => this.start({ sandboxId, project }));
  }

  /** The connection to a sandbox that runs; undefined when it does not. */
  async connectionTo(sandboxId: string): Promise<SandboxConnection | undefined> {
    try {
      return await this.share(sandboxId, () => this.attach(sandboxId));
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** Closes the connection to a sandbox, if there is one. */
  async disconnect(sandboxId: string): Promise<void> {
    const opening = this.connections.get(sandboxId);
    const [settled] = await Promise.allSettled(opening === undefined ? [] : [opening]);
    if (settled?.status === 'fulfilled') settled.value.close();
  }

  /** Closes every connection; the sandboxes go on. No other is opened. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.connections.keys()].map((sandboxId) => this.disconnect(sandboxId)));
  }

  /** Runs of one project share a connection, also while it is being opened. */
  private async share(sandboxId: string, open: () => Promise<SandboxConnection>): Promise<SandboxConnection> {
    const known = this.connections.get(sandboxId);
    if (known !== undefined) return known;
    const opening = open();
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

  /** A sandbox that runs is reached over its own socket first: Docker may be away. */
  private async start(wanted: Wanted): Promise<SandboxConnection> {
    const { clock } = this.parts;
    const before = clock.monotonicMs();
    try {
      return await this.attach(wanted.sandboxId);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    const summary = await this.ensure(wanted);
    const connection = await this.attach(wanted.sandboxId);
    await this.recordStart(wanted, summary, connection.bootId, Math.round(clock.monotonicMs() - before));
    return connection;
  }

  private async attach(sandboxId: string): Promise<SandboxConnection> {
    if (this.closed) throw leaseLost();
    const connection = await this.parts.runtime.connect(sandboxId, { hostEpoch: this.parts.lease.epoch });
    if (!this.isClosed()) return new LeasedConnection(connection, this.parts.term);
    connection.close();
    throw leaseLost();
  }

  private isClosed(): boolean {
    return this.closed;
  }

  private async ensure({ sandboxId, project, run }: Wanted): Promise<SandboxSummary> {
    const { runtime, image, limits } = this.parts;
    const owner = await workspaceOwner(project.path);
    return runtime.ensure({
      sandboxId,
      projectId: project.projectId,
      image: project.image ?? image,
      workspacePath: project.path,
      ...owner,
      limits,
      ...(run === undefined ? {} : { labels: { correlation_id: run.correlationId } }),
    });
  }

  private async recordStart(wanted: Wanted, { containerId }: SandboxSummary, bootId: string, readyMs: number) {
    const { executions, announce, logger } = this.parts;
    const { sandboxId, run, project } = wanted;
    const image = project.image ?? this.parts.image;
    logger.info({ sandbox_id: sandboxId, run_id: run?.runId ?? null, ready_ms: readyMs }, 'sandbox started');
    try {
      await executions.sandboxStarted(sandboxId, { containerId, bootId, image });
      await announce(await this.appendStart(wanted, { image, ready_ms: readyMs }));
    } catch (error) {
      // The sandbox is there all the same; if the run is another worker's by now, its next write says so.
      logError(logger, error, { doing: 'record sandbox start', sandbox_id: sandboxId });
    }
  }

  private appendStart(
    { project, run }: Wanted,
    payload: { image: string; ready_ms: number },
  ): Promise<Committed<void>> {
    const { executions, events, lease } = this.parts;
    const type = 'sandbox.started';
    if (run === undefined) return events.appendHostEvents(lease, project.projectId, [{ type, payload }]);
    return executions.appendEvents({ runId: run.runId, runEpoch: run.epoch }, [{ type, runId: run.runId, payload }]);
  }
}

const isGone = (error: unknown): boolean =>
  isAppError(error) && (error.code === 'sandbox.lost' || error.code === 'sandbox.connection_lost');
