// The part of reconciling that looks into Docker: sandboxes without a project, processes without a row, rows without a process.
import type {
  ExecutionStore,
  ProcessRecord,
  ProjectStore,
  SandboxConnection,
  SandboxRuntime,
  SandboxSummary,
} from '#domain';
import { logError, type Logger } from '#observability';
import { compareProcesses } from './compare-processes.js';

export interface SandboxSweepParts {
  hostId: string;
  runtime: Pick<SandboxRuntime, 'list' | 'remove'>;
  executions: Pick<ExecutionStore, 'activeRuns' | 'liveProcesses' | 'processEnded'>;
  projects: Pick<ProjectStore, 'find'>;
  /**
   * The connection to a sandbox that runs, made if there is none: that also turns away the connections of an earlier holder.
   * Undefined when it does not run.
   */
  connectionTo(sandboxId: string): Promise<SandboxConnection | undefined>;
  /** Whether a run of the project is attached here. */
  isAttended: (projectId: string) => boolean;
  /** Asks Postgres whether this worker still holds the host, before anything is destroyed. */
  stillHeld: () => Promise<boolean>;
  logger: Logger;
}

export class SandboxSweep {
  constructor(private readonly parts: SandboxSweepParts) {}

  async run(): Promise<void> {
    const running = await this.removeOrphans();
    const listed = await Promise.all(running.map((sandbox) => this.list(sandbox)));
    const rows = await this.parts.executions.liveProcesses(this.parts.hostId);
    const isAttended = await this.attendance();
    for (const { sandbox, connection, infos } of listed) {
      const own = rows.filter(({ sandboxId }) => sandboxId === sandbox.sandboxId);
      const attended = isAttended(sandbox.projectId);
      if (connection !== undefined) await this.repair(connection, compareProcesses({ infos, rows: own, attended }));
    }
    const ids = new Set(running.map(({ sandboxId }) => sandboxId));
    await this.endLost(rows.filter(({ sandboxId, projectId }) => !ids.has(sandboxId) && !isAttended(projectId)));
  }

  /** Whether a run of a project is at work here, or will be: what it left in its sandbox is still needed then. */
  private async attendance(): Promise<(projectId: string) => boolean> {
    const { executions, hostId, isAttended } = this.parts;
    const active = new Set((await executions.activeRuns(hostId)).map(({ projectId }) => projectId));
    return (projectId) => active.has(projectId) || isAttended(projectId);
  }

  /** The sandboxes that run and have a project. */
  private async removeOrphans(): Promise<SandboxSummary[]> {
    const { runtime, projects, stillHeld, logger } = this.parts;
    const running: SandboxSummary[] = [];
    for (const sandbox of await runtime.list()) {
      const { sandboxId, projectId, state } = sandbox;
      if ((await projects.find(projectId)) !== undefined) {
        if (state === 'running') running.push(sandbox);
      } else if (await stillHeld()) {
        logger.warn({ sandbox_id: sandboxId, project_id: projectId }, 'removing a sandbox without a project');
        await runtime.remove(sandboxId, { data: true });
      }
    }
    return running;
  }

  /** A sandbox that cannot be asked now must not keep the others from being looked at. */
  private async list(sandbox: SandboxSummary) {
    try {
      const connection = await this.parts.connectionTo(sandbox.sandboxId);
      return { sandbox, connection, infos: (await connection?.list()) ?? [] };
    } catch (error) {
      logError(this.parts.logger, error, { doing: 'list processes', sandbox_id: sandbox.sandboxId });
      return { sandbox, connection: undefined, infos: [] };
    }
  }

  private async repair(
    connection: SandboxConnection,
    { kill, forget, ended }: ReturnType<typeof compareProcesses>,
  ): Promise<void> {
    const { executions, stillHeld, logger } = this.parts;
    for (const { processId, epoch } of kill) {
      // It may have ended since the list was read; what it left behind then belongs to the sandbox.
      if ((await connection.info(processId)).state !== 'running' || !(await stillHeld())) continue;
      logger.warn({ sandbox_id: connection.sandboxId, process_id: processId }, 'killing a process without a row');
      await connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch });
    }
    for (const { processId, epoch } of forget) await connection.forget(processId, { epoch });
    for (const { processId, info } of ended) {
      const exit = info?.exit;
      if (exit === undefined || exit === null || exit.lost === true) {
        await executions.processEnded(processId, { state: 'lost' });
      } else {
        await executions.processEnded(processId, { state: 'exited', exitCode: exit.code, exitSignal: exit.signal });
      }
    }
  }

  /** Rows of sandboxes that do not run. */
  private async endLost(lost: ProcessRecord[]): Promise<void> {
    const { executions, logger } = this.parts;
    for (const { processId, sandboxId } of lost) {
      logger.warn({ sandbox_id: sandboxId, process_id: processId }, 'a process went with its sandbox');
      await executions.processEnded(processId, { state: 'lost' });
    }
  }
}
