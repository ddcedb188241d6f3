// The part of reconciling that looks into Docker: sandboxes without a project, processes without a row, rows without a process.
// Each sandbox is looked at by itself, so that one which does not answer delays no other and makes nobody's list grow old.
import type {
  ExecutionStore,
  HostLease,
  ProcessRecord,
  ProjectStore,
  SandboxConnection,
  SandboxRuntime,
  SandboxSummary,
} from '#domain';
import { AppError, isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { inTime } from '../timing/in-time.js';
import { within } from '../timing/within.js';
import { compareProcesses, type ProcessRepairs, type RowReading } from './compare-processes.js';

export interface SandboxSweepParts {
  lease: HostLease;
  runtime: Pick<SandboxRuntime, 'list' | 'remove'>;
  executions: Pick<ExecutionStore, 'activeRuns' | 'liveProcesses' | 'processEnded' | 'processLive'>;
  projects: Pick<ProjectStore, 'existing'>;
  /**
   * The connection to a sandbox that runs, made if there is none: that also turns away the connections of an earlier holder.
   * Undefined when it does not run.
   */
  connectionTo(sandboxId: string): Promise<SandboxConnection | undefined>;
  /** Projects of the runs that are attached here. */
  attendedProjects: () => string[];
  /** Asks Postgres whether this worker still holds the host, before anything is destroyed. */
  stillHeld: () => Promise<boolean>;
  logger: Logger;
  bounds?: SweepBounds;
}

export interface SweepBounds {
  /** How old the list of a sandbox's processes may be when it is used: what it may take to answer, ms. */
  askMs: number;
  /** How long a turn waits for one sandbox, ms. What goes on after that is not begun a second time. */
  lookMs: number;
}

const BOUNDS: SweepBounds = { askMs: 3_000, lookMs: 5_000 };

/** All rows of the host, and whose they are, at one moment. */
interface Reading {
  rows: ProcessRecord[];
  /** Projects of runs that are at work, or will be: what they left in their sandboxes is still needed. */
  attended: ReadonlySet<string>;
}

interface FoundSandbox {
  sandbox: SandboxSummary;
  /** No project has it. */
  orphan: boolean;
}

export class SandboxSweep {
  private readonly underWay = new Set<string>();

  constructor(private readonly parts: SandboxSweepParts) {}

  async run(): Promise<void> {
    const before = await this.read();
    const sandboxes = await this.parts.runtime.list();
    const existing = await this.parts.projects.existing(sandboxes.map(({ projectId }) => projectId));
    const running = new Set(sandboxes.filter(({ state }) => state === 'running').map(({ sandboxId }) => sandboxId));
    const looks = sandboxes.map((sandbox) =>
      this.lookInTime({ sandbox, orphan: !existing.has(sandbox.projectId) }, before),
    );
    await Promise.all([...looks, this.endLost(before, running)]);
  }

  /** Of one sandbox, or of all. */
  private async read(of?: Pick<SandboxSummary, 'sandboxId' | 'projectId'>): Promise<Reading> {
    const { executions, lease, attendedProjects } = this.parts;
    const rows = await executions.liveProcesses(lease.hostId, of?.sandboxId);
    const active = await executions.activeRuns(lease.hostId, of?.projectId);
    return { rows, attended: new Set([...active.map(({ projectId }) => projectId), ...attendedProjects()]) };
  }

  private async lookInTime(found: FoundSandbox, before: Reading): Promise<void> {
    const { logger, bounds = BOUNDS } = this.parts;
    const { sandboxId } = found.sandbox;
    if (this.underWay.has(sandboxId)) return;
    this.underWay.add(sandboxId);
    const look = this.look(found, before).finally(() => this.underWay.delete(sandboxId));
    await within(bounds.lookMs, look, (error) =>
      logError(logger, error, { doing: 'look into sandbox', sandbox_id: sandboxId }),
    );
  }

  private async look({ sandbox, orphan }: FoundSandbox, before: Reading): Promise<void> {
    const { bounds = BOUNDS } = this.parts;
    if (orphan) return this.removeOrphan(sandbox);
    if (sandbox.state !== 'running') return;
    const answer = await inTime(bounds.askMs, this.ask(sandbox.sandboxId), silent);
    if (answer === undefined) return;
    const after = readingOf(await this.read(sandbox), sandbox);
    const repairs = compareProcesses({ before: readingOf(before, sandbox), infos: answer.infos, after });
    await this.repair(answer.connection, repairs);
  }

  private async ask(sandboxId: string) {
    const connection = await this.parts.connectionTo(sandboxId);
    return connection === undefined ? undefined : { connection, infos: await connection.list() };
  }

  private async removeOrphan({ sandboxId, projectId }: SandboxSummary): Promise<void> {
    const { runtime, stillHeld, logger } = this.parts;
    if (!(await stillHeld())) return;
    logger.warn({ sandbox_id: sandboxId, project_id: projectId }, 'removing a sandbox without a project');
    await runtime.remove(sandboxId, { data: true });
  }

  private async repair(connection: SandboxConnection, repairs: ProcessRepairs): Promise<void> {
    const { executions, stillHeld, logger } = this.parts;
    for (const { row, info } of repairs.started) {
      const fence = { processId: row.processId, processEpoch: row.epoch };
      const bootId = info.bootId ?? connection.bootId;
      await this.unlessFenced(row, executions.processLive(fence, { pid: info.pid, bootId }));
    }
    for (const { row, info } of repairs.ended) await this.end(row, factsOf(info));
    for (const { processId, epoch } of repairs.kill) {
      // It may have ended since the list was read; what it left behind then belongs to the sandbox.
      if ((await connection.info(processId)).state !== 'running' || !(await stillHeld())) continue;
      logger.warn({ sandbox_id: connection.sandboxId, process_id: processId }, 'killing a process without a row');
      await connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch });
    }
    for (const { processId, epoch } of repairs.forget) await connection.forget(processId, { epoch });
  }

  /** Rows of sandboxes that did not run between two readings. */
  private async endLost(before: Reading, running: ReadonlySet<string>): Promise<void> {
    const lost = before.rows.filter(({ sandboxId }) => !running.has(sandboxId));
    if (lost.length === 0) return;
    const after = await this.read();
    for (const { row } of lost.flatMap((row) => endedWith(row, before, after))) {
      const { sandboxId, processId } = row;
      this.parts.logger.warn({ sandbox_id: sandboxId, process_id: processId }, 'a process went with its sandbox');
      await this.end(row, { state: 'lost' });
    }
  }

  private async end(row: ProcessRecord, facts: ReturnType<typeof factsOf>): Promise<void> {
    const { executions, lease } = this.parts;
    await this.unlessFenced(row, executions.processEnded(row.processId, facts, { processEpoch: row.epoch, lease }));
  }

  /** A run was given the process since, or another worker has the host: the row is theirs. */
  private async unlessFenced({ processId }: ProcessRecord, write: Promise<void>): Promise<void> {
    try {
      await write;
    } catch (error) {
      if (!isAppError(error) || error.code !== 'write.fenced') throw error;
      this.parts.logger.info({ process_id: processId }, 'a process is left to who has it now');
    }
  }
}

const silent = (): AppError => new AppError('sandbox.connection_lost', 'The sandbox did not answer in time.');

const readingOf = (
  { rows, attended }: Reading,
  { sandboxId, projectId }: Pick<SandboxSummary, 'sandboxId' | 'projectId'>,
): RowReading => ({ rows: rows.filter((row) => row.sandboxId === sandboxId), attended: attended.has(projectId) });

/** The row, if nobody has touched it between the readings. */
function endedWith(row: ProcessRecord, before: Reading, after: Reading): ProcessRepairs['ended'] {
  const own = (reading: Reading): RowReading => {
    const { rows, attended } = readingOf(reading, row);
    return { rows: rows.filter(({ processId }) => processId === row.processId), attended };
  };
  return compareProcesses({ before: own(before), infos: [], after: own(after) }).ended;
}

function factsOf(info: ProcessRepairs['ended'][number]['info']) {
  const exit = info?.exit;
  if (exit === undefined || exit === null || exit.lost === true) return { state: 'lost' as const };
  return { state: 'exited' as const, exitCode: exit.code, exitSignal: exit.signal };
}
