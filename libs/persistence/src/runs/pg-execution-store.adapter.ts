// The worker's side of runs in Postgres. Every write compares epochs first; with an old one it changes nothing (R4).
import {
  requireTransition,
  type Announcement,
  type Attempt,
  type BegunAttempt,
  type ClaimedRun,
  type Committed,
  type EventDraft,
  type ExecutionStore,
  type HostLease,
  type IntentRecord,
  type NewPermissionRequest,
  type NewProcess,
  type OutputCommit,
  type PermissionAnswer,
  type PermissionRecord,
  type ProcessEndGuard,
  type ProcessFence,
  type ProcessRecord,
  type RunFence,
  type RunOutcome,
  type RunRecord,
} from '#domain';
import { LANE_HOLDING_STATUSES, type RunStatus, type SessionStatus, UNFINISHED_RUN_STATUSES } from '#kernel';
import { type Columns, modelColumns } from '../columns.js';
import type { Database } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import type { Process } from '../generated/client.js';
import { openQuestion, questionClosed, ruleOn } from '../permissions/open-question.js';
import { expireQuestions, parkWaiting } from '../permissions/overdue-questions.js';
import { toPermission } from '../permissions/permission-rows.js';
import { moveSession } from '../sessions/session-status.js';
import { beginAttempt, continueAttempt } from './attempts.js';
import { claimRun } from './claim.js';
import { endProcess, fenced, lockRun } from './fences.js';
import { finishRun, NO_WAIT } from './finish.js';
import { writeOutput } from './output-writer.js';
import { projectsWithFreeLanes } from './free-lanes.js';
import { openIntentsOf } from './intents.js';
import { moveRun } from './move-run.js';
import { permissionClosed } from './run-events.js';
import { toProcess } from './run-rows.js';

/** Far more than are at work on a host at a time. */
const REMEMBERED_RUNS = 2_000;

export class PgExecutionStore implements ExecutionStore {
  readonly #projects = new Map<string, string>();

  constructor(private readonly db: Database) {}

  async claim(
    job: { runId: string; dispatchNo: number },
    lease: HostLease,
  ): Promise<Committed<ClaimedRun> | undefined> {
    const projectId = await this.#projectOf(job.runId);
    if (projectId === undefined) return undefined;
    const { result, announcement } = await inProject(this.db, projectId, (unit) => claimRun(unit, job, lease));
    return result === undefined ? undefined : { result, announcement };
  }

  async beginProcess(fence: RunFence, process: NewProcess): Promise<ProcessRecord> {
    return this.db.transaction(async (tx) => {
      const run = await lockRun(tx, fence);
      const row = await tx.process.create({
        data: {
          id: process.processId,
          projectId: run.projectId,
          sandboxId: process.sandboxId,
          sessionId: process.sessionId,
          kind: process.kind,
          fingerprint: process.fingerprint,
          tokenHash: process.tokenHash,
          bootId: process.bootId ?? null,
          epoch: 1,
        },
      });
      await tx.run.update({ where: { id: run.runId }, data: { processId: row.id, startOffset: 0 } });
      return toProcess(row);
    });
  }

  async adoptProcess(fence: RunFence, processId: string): Promise<{ process: ProcessRecord; startOffset: number }> {
    // One statement: a prompt waits for it.
    const [row] = await this.db.run(
      (client) => client.$queryRaw<(Columns & { run_offset: bigint })[]>`
        WITH held AS (
          SELECT id, process_id, start_offset FROM run
          WHERE id = ${fence.runId}::uuid AND epoch = ${fence.runEpoch} AND finished_at IS NULL FOR UPDATE
        ), adopted AS (
          UPDATE process SET epoch = epoch + 1, last_used_at = now() FROM held WHERE process.id = ${processId}::uuid
          RETURNING process.*, CASE WHEN held.process_id = process.id THEN held.start_offset ELSE process.out_offset END AS run_offset
        ), given AS (
          UPDATE run SET process_id = adopted.id, start_offset = adopted.run_offset FROM adopted
          WHERE run.id = ${fence.runId}::uuid AND run.process_id IS DISTINCT FROM adopted.id
        )
        SELECT * FROM adopted`,
    );
    if (row === undefined) throw fenced();
    return { process: toProcess(modelColumns(row) as Process), startOffset: Number(row.run_offset) };
  }

  async processLive(fence: ProcessFence, facts: { pid: number | null; bootId: string }): Promise<void> {
    const updated = await this.db.run((client) =>
      client.process.updateMany({
        where: { id: fence.processId, epoch: fence.processEpoch, state: { in: ['starting', 'live'] } },
        data: { state: 'live', pid: facts.pid, bootId: facts.bootId },
      }),
    );
    if (updated.count !== 1) throw fenced();
  }

  async commitOutput(commit: OutputCommit): Promise<Committed<void>> {
    if (commit.events.length > 0 || commit.session !== undefined) {
      return this.#inRun(commit, (unit, run) => ingest(unit, run, commit));
    }
    // Bytes alone touch neither lanes, the sequence nor a conversation, so they need no lock on the project (R1).
    const projectId = await this.db.transaction(async (tx) => {
      const run = await lockRun(tx, commit);
      await writeOutput(tx, run, commit);
      return run.projectId;
    });
    return { result: undefined, announcement: { projectId, events: [], dispatches: [], wakeHostIds: [] } };
  }

  async appendEvents(fence: RunFence, events: EventDraft[]): Promise<Committed<void>> {
    return this.#inRun(fence, async (unit) => {
      unit.append(events);
    });
  }

  async openPermission(request: NewPermissionRequest): Promise<Committed<PermissionRecord>> {
    const projectId = await this.#projectOf(request.runId);
    if (projectId === undefined) throw fenced();
    const ruling = await ruleOn(this.db, request, projectId);
    return this.#inRun(request, (unit, run) => openQuestion(unit, run, request, ruling));
  }

  async cancelPermission(fence: RunFence, requestId: string): Promise<Committed<void>> {
    return this.#inRun(fence, async (unit, run) => {
      const { count } = await unit.tx.permissionRequest.updateMany({
        where: { id: requestId, runId: fence.runId, status: 'open' },
        data: { status: 'cancelled', closedAt: new Date() },
      });
      if (count === 0) return;
      const row = await unit.tx.permissionRequest.findUniqueOrThrow({ where: { id: requestId } });
      unit.append([permissionClosed(await toPermission(unit.tx, row), 'cancelled')]);
      await questionClosed(unit, run);
    });
  }

  async resumeRun(fence: RunFence): Promise<Committed<boolean>> {
    return this.#inRun(fence, async (unit, run) => {
      if (run.status === 'running') return true;
      // Of one that is parked others may have the lane: it takes it back first.
      if (run.status === 'parked') return false;
      // One that a person holds still goes on when it is told to.
      if (run.status === 'paused') return false;
      const open = await unit.tx.permissionRequest.count({ where: { runId: run.runId, status: 'open' } });
      if (open > 0) return false;
      await moveRun(unit.tx, run, 'running', NO_WAIT);
      unit.queueChanged();
      return true;
    });
  }

  async beginAttempt(fence: RunFence, attempt: Attempt): Promise<Committed<BegunAttempt | undefined>> {
    return this.#inRun(fence, (unit, run) => beginAttempt(unit, run, attempt));
  }

  async continueAttempt(fence: RunFence): Promise<Committed<RunRecord>> {
    return this.#inRun(fence, (unit, run) => continueAttempt(unit, run));
  }

  async setSessionStatus(fence: RunFence, status: SessionStatus): Promise<Committed<void>> {
    return this.#inRun(fence, async (unit, run) => {
      if (run.sessionId === null) return;
      await moveSession(unit, { sessionId: run.sessionId, to: status, runId: run.runId });
    });
  }

  async finish(fence: RunFence, outcome: RunOutcome): Promise<Committed<RunRecord>> {
    return this.#inRun(fence, async (unit, run) => {
      requireTransition(run.status, outcome.status);
      if (outcome.lastOutput !== undefined) await ingest(unit, run, outcome.lastOutput);
      return finishRun(unit, run, outcome);
    });
  }

  async processEnded(
    processId: string,
    facts: { state: 'exited' | 'lost'; exitCode?: number | null; exitSignal?: string | null },
    guard: ProcessEndGuard,
  ): Promise<void> {
    await this.db.run((client) => endProcess(client, processId, facts, guard));
  }

  async processCost(processId: string): Promise<number> {
    const row = await this.db.run((client) =>
      client.process.findUnique({ where: { id: processId }, select: { costUsd: true } }),
    );
    return row === null ? 0 : Number(row.costUsd);
  }

  async liveProcesses(hostId: string, sandboxId?: string): Promise<ProcessRecord[]> {
    const rows = await this.db.run((client) =>
      client.process.findMany({
        where: {
          state: { in: ['starting', 'live'] },
          ...(sandboxId === undefined ? { project: { hostId } } : { sandboxId }),
        },
        orderBy: { lastUsedAt: 'asc' },
      }),
    );
    return rows.map(toProcess);
  }

  async idleAgents(hostId: string): Promise<ProcessRecord[]> {
    const rows = await this.db.run(async (client) => {
      const busy = await client.run.findMany({
        where: { hostId, processId: { not: null }, status: { in: [...UNFINISHED_RUN_STATUSES] } },
        select: { processId: true },
      });
      return client.process.findMany({
        where: {
          kind: 'agent',
          state: 'live',
          project: { hostId },
          id: { notIn: busy.flatMap(({ processId }) => processId ?? []) },
        },
        orderBy: { lastUsedAt: 'asc' },
      });
    });
    return rows.map(toProcess);
  }

  async sandboxStarted(
    sandboxId: string,
    facts: { containerId: string; bootId: string; image: string },
  ): Promise<void> {
    await this.db.run((client) =>
      client.sandbox.updateMany({ where: { id: sandboxId }, data: { ...facts, startedAt: new Date() } }),
    );
  }

  async openIntents(runIds: readonly string[]): Promise<IntentRecord[]> {
    return runIds.length === 0 ? [] : this.db.run((client) => openIntentsOf(client, runIds));
  }

  async answerOf(requestId: string): Promise<PermissionAnswer | undefined> {
    const row = await this.db.run((client) =>
      client.permissionRequest.findUnique({ where: { id: requestId }, select: { answer: true } }),
    );
    return row === null || row.answer === null ? undefined : (row.answer as unknown as PermissionAnswer);
  }

  async isParked(runId: string): Promise<boolean> {
    const row = await this.db.run((client) =>
      client.run.findUnique({ where: { id: runId }, select: { status: true } }),
    );
    return row?.status === 'parked' || row?.status === 'paused';
  }

  async closeOverdue(hostId: string, defaults: { parkAfterMs: number }): Promise<Announcement[]> {
    const expired = await expireQuestions(this.db, hostId);
    return [...expired, ...(await parkWaiting(this.db, hostId, defaults.parkAfterMs))];
  }

  async activeRuns(
    hostId: string,
    projectId?: string,
  ): Promise<
    {
      runId: string;
      hostId: string;
      projectId: string;
      dispatchNo: number;
      correlationId: string;
      status: RunStatus;
      epoch: number;
    }[]
  > {
    const rows = await this.db.run((client) =>
      client.run.findMany({
        where: {
          hostId,
          status: { in: [...LANE_HOLDING_STATUSES, 'parked'] },
          ...(projectId === undefined ? {} : { projectId }),
        },
        orderBy: { dispatchedAt: 'asc' },
      }),
    );
    return rows.map((row) => ({
      runId: row.id,
      hostId: row.hostId,
      projectId: row.projectId,
      dispatchNo: row.dispatchNo,
      correlationId: row.correlationId,
      status: row.status as RunStatus,
      epoch: Number(row.epoch),
    }));
  }

  async promoteFreeLanes(hostId: string): Promise<Announcement[]> {
    const projectIds = await this.db.run((client) => projectsWithFreeLanes(client, hostId));
    const announcements: Announcement[] = [];
    for (const projectId of projectIds) {
      const { result, announcement } = await inProject(this.db, projectId, async (unit) => {
        const promoted = await unit.promote();
        if (promoted) unit.refreshState();
        return promoted;
      });
      if (result) announcements.push(announcement);
    }
    return announcements;
  }

  /** A unit of work on the run's project with the run locked and its fence checked. */
  async #inRun<T>(fence: RunFence, work: (unit: ProjectUnit, run: RunRecord) => Promise<T>): Promise<Committed<T>> {
    const projectId = await this.#projectOf(fence.runId);
    if (projectId === undefined) throw fenced();
    return inProject(this.db, projectId, async (unit) => work(unit, await lockRun(unit.tx, fence)));
  }

  /** A run never changes its project, and is asked about many times while it is at work. */
  async #projectOf(runId: string): Promise<string | undefined> {
    const known = this.#projects.get(runId);
    if (known !== undefined) return known;
    const row = await this.db.run((client) =>
      client.run.findUnique({ where: { id: runId }, select: { projectId: true } }),
    );
    if (row === null) return undefined;
    const [oldest] = this.#projects.keys();
    if (this.#projects.size >= REMEMBERED_RUNS && oldest !== undefined) this.#projects.delete(oldest);
    this.#projects.set(runId, row.projectId);
    return row.projectId;
  }
}

async function ingest(unit: ProjectUnit, run: RunRecord, commit: OutputCommit): Promise<void> {
  await writeOutput(unit.tx, run, commit);
  unit.append(commit.events);
}
