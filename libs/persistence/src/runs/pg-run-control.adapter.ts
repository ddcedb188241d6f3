// Steering runs in Postgres: intents from clients, and what the worker makes of them under the run's fence (R4, R5).
import type {
  CommandInput,
  Committed,
  ControlFence,
  InputPiece,
  RunControl,
  RunControlStore,
  RunRecord,
} from '#domain';
import { AppError, type IntentKind } from '#kernel';
import type { Database } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { inputWritten, storeInput, waitingInput } from './command-input.js';
import { fenced, lockRun } from './fences.js';
import { NO_WAIT } from './finish.js';
import { moveSession } from '../sessions/session-status.js';
import { ask, requireStatus, withdraw } from './intents.js';
import { moveRun } from './move-run.js';
import { runUpdated } from './run-events.js';
import { toRun } from './run-rows.js';

export class PgRunControl implements RunControl, RunControlStore {
  constructor(private readonly db: Database) {}

  async interrupt(runId: string, userId: string): Promise<Committed<RunRecord>> {
    return this.#onRun(runId, async (unit) => {
      const run = await requireStatus(unit, runId, ['dispatched', 'running', 'waiting', 'parked', 'paused']);
      await ask(unit, run, { kind: 'interrupt', userId });
      return run;
    });
  }

  async pause(runId: string, userId: string): Promise<Committed<RunRecord>> {
    return this.#onRun(runId, async (unit) => {
      const run = await requireStatus(unit, runId, ['dispatched', 'running', 'paused']);
      const revoked = await withdraw(unit.tx, runId, 'resume');
      if (run.status !== 'paused' || revoked > 0) await ask(unit, run, { kind: 'pause', userId });
      return run;
    });
  }

  async resume(runId: string, userId: string): Promise<Committed<RunRecord>> {
    return this.#onRun(runId, async (unit) => {
      const revoked = await withdraw(unit.tx, runId, 'pause');
      // A pause that was not carried out yet may be under way: going on makes it void either way.
      const statuses = revoked > 0 ? (['dispatched', 'running', 'waiting', 'paused'] as const) : (['paused'] as const);
      const run = await requireStatus(unit, runId, statuses);
      await ask(unit, run, { kind: 'resume', userId });
      return run;
    });
  }

  async input(input: CommandInput): Promise<Committed<{ duplicate: boolean }>> {
    return this.#onRun(input.runId, (unit) => storeInput(unit, input));
  }

  async waitingInput(runId: string): Promise<InputPiece[]> {
    return this.db.run((client) => waitingInput(client, runId));
  }

  async inputWritten(fence: ControlFence, piece: { intentId: string; closed: boolean }): Promise<void> {
    await this.db.transaction(async (tx) => {
      await lockRun(tx, fence);
      await inputWritten(tx, fence.runId, piece);
    });
  }

  async applyIntent(fence: ControlFence, intentId: string): Promise<void> {
    await this.db.transaction(async (tx) => {
      await lockRun(tx, fence);
      await tx.intent.updateMany({
        where: { id: intentId, runId: fence.runId, appliedAt: null },
        data: { appliedAt: new Date() },
      });
    });
  }

  async pauseRun(fence: ControlFence, intentId: string, activeMs: number): Promise<Committed<boolean>> {
    return this.#fenced(fence, async (unit, run) => {
      // Told twice, because the first answer of Postgres was lost.
      if (run.status === 'paused') return true;
      if (run.status !== 'running' || !(await close(unit, intentId))) return false;
      const pausedAt = new Date();
      await moveRun(unit.tx, run, 'paused', { pausedAt, activeMs: Math.round(activeMs) });
      unit.append([runUpdated(run, { status: 'paused', paused_since: pausedAt.toISOString() })]);
      await followRun(unit, run, 'paused');
      unit.queueChanged();
      return true;
    });
  }

  async continueRun(fence: ControlFence, intentId?: string): Promise<Committed<RunRecord>> {
    return this.#fenced(fence, async (unit, run) => {
      if (intentId !== undefined) await close(unit, intentId);
      if (run.status !== 'paused') return run;
      const oldest = await unit.tx.permissionRequest.findFirst({
        where: { runId: run.runId, status: 'open' },
        orderBy: { createdAt: 'asc' },
        select: { createdAt: true },
      });
      const status = oldest === null ? 'running' : 'waiting';
      const wait = oldest === null ? {} : { waitingSince: oldest.createdAt, waitReason: 'permission' };
      const row = await moveRun(unit.tx, run, status, { ...NO_WAIT, ...wait });
      unit.append([runUpdated(run, { status })]);
      await followRun(unit, run, 'running');
      unit.queueChanged();
      return toRun(row);
    });
  }

  async noteActiveTime(fence: ControlFence, activeMs: number): Promise<void> {
    await this.db.transaction(async (tx) => {
      const run = await lockRun(tx, fence);
      const latest = Math.max(run.activeMs, Math.round(activeMs));
      await tx.run.update({ where: { id: run.runId }, data: { activeMs: latest } });
    });
  }

  async wasAsked(runId: string, kind: IntentKind): Promise<boolean> {
    return (await this.db.run((client) => client.intent.count({ where: { runId, kind } }))) > 0;
  }

  async #onRun<T>(runId: string, work: (unit: ProjectUnit) => Promise<T>): Promise<Committed<T>> {
    const row = await this.db.run((client) =>
      client.run.findUnique({ where: { id: runId }, select: { projectId: true } }),
    );
    if (row === null) throw new AppError('run.not_found', 'There is no such run.');
    return inProject(this.db, row.projectId, work);
  }

  #fenced<T>(fence: ControlFence, work: (unit: ProjectUnit, run: RunRecord) => Promise<T>): Promise<Committed<T>> {
    return inProject(this.db, fence.projectId, async (unit) => {
      const run = await lockRun(unit.tx, fence);
      if (run.projectId !== fence.projectId) throw fenced();
      return work(unit, run);
    });
  }
}

/** The conversation of a run that is held still shows it. */
async function followRun(unit: ProjectUnit, { runId, sessionId }: RunRecord, to: 'paused' | 'running'): Promise<void> {
  if (sessionId !== null) await moveSession(unit, { sessionId, to, runId });
}

/** False when it was withdrawn meanwhile, or done already. */
async function close(unit: ProjectUnit, intentId: string): Promise<boolean> {
  const { count } = await unit.tx.intent.updateMany({
    where: { id: intentId, appliedAt: null },
    data: { appliedAt: new Date() },
  });
  return count > 0;
}
