// Conversations as clients change them, in Postgres. Each change is one unit of work on its project (R1).
import type {
  Committed,
  NewCompaction,
  NewSession,
  QueuedRun,
  Replayable,
  RunRecord,
  SessionChanges,
  SessionRecord,
  SessionStore,
} from '#domain';
import { requireUnarchived } from '#domain';
import { AppError, LANE_HOLDING_STATUSES, newId, UNFINISHED_RUN_STATUSES } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { lockedBy } from '../runs/blockers.js';
import { claimKey, KEY_TTL_MS, saveResult } from '../runs/idempotency.js';
import { ask } from '../runs/intents.js';
import { toRun, toSession } from '../runs/run-rows.js';
import { storableText } from '../storable.js';
import { insertCompaction } from './compact-run.js';
import { moveSession, tell } from './session-status.js';

export class PgSessionStore implements SessionStore {
  /** `keyTtlMs`: how long an idempotency key counts. */
  constructor(
    private readonly db: Database,
    private readonly keyTtlMs: number = KEY_TTL_MS,
  ) {}

  async create(session: NewSession): Promise<Replayable<SessionRecord>> {
    let replayed = false;
    const committed = await inProject(this.db, session.projectId, async (unit) => {
      const { idempotency } = session;
      const first = idempotency === undefined ? undefined : await claimKey(unit.tx, idempotency, this.keyTtlMs);
      if (first !== undefined) {
        replayed = true;
        return toSession(await unit.tx.session.findUniqueOrThrow({ where: { id: String(first['session_id']) } }));
      }
      const record = await insertSession(unit, session);
      if (idempotency !== undefined) await saveResult(unit.tx, idempotency, { session_id: record.sessionId });
      return record;
    });
    return { ...committed, replayed };
  }

  async update(sessionId: string, userId: string, changes: SessionChanges): Promise<Committed<SessionRecord>> {
    return this.#onSession(sessionId, async (unit, session) => {
      requireUnarchived(session);
      const { title, model, permissionMode } = changes;
      const row = await unit.tx.session.update({
        where: { id: sessionId },
        data: {
          ...(title === undefined ? {} : { title: storableText(title), titleByUser: true }),
          ...(model === undefined ? {} : { model }),
          ...(permissionMode === undefined ? {} : { permissionMode }),
          updatedAt: new Date(),
        },
      });
      const wish = {
        ...(model === undefined ? {} : { model }),
        ...(permissionMode === undefined ? {} : { permission_mode: permissionMode }),
      };
      tell(unit, sessionId, { status: session.status, ...(title === undefined ? {} : { title: row.title }), ...wish });
      const run = Object.keys(wish).length === 0 ? undefined : await activeRun(unit.tx, sessionId);
      if (run !== undefined) await ask(unit, run, { kind: 'setting', userId, payload: wish });
      return toSession(row);
    });
  }

  async resume(sessionId: string): Promise<Committed<SessionRecord>> {
    return this.#onSession(sessionId, async (unit, session) => {
      requireUnarchived(session);
      const { count } = await unit.tx.project.updateMany({
        where: {
          id: session.projectId,
          OR: [{ currentSessionId: null }, { currentSessionId: { not: sessionId } }],
        },
        data: { currentSessionId: sessionId },
      });
      if (count > 0) tell(unit, sessionId, { status: session.status, current: true });
      return session;
    });
  }

  async archive(sessionId: string): Promise<Committed<SessionRecord>> {
    return this.#onSession(sessionId, async (unit, session) => {
      if (session.status === 'archived') return session;
      await refuseWhileBusy(unit.tx, sessionId);
      const archivedAt = new Date();
      await moveSession(unit, { sessionId, to: 'archived', data: { archivedAt } });
      await leave(unit, session);
      return { ...session, status: 'archived' as const, archivedAt, updatedAt: archivedAt };
    });
  }

  async compact(sessionId: string, request: NewCompaction): Promise<Replayable<QueuedRun>> {
    let replayed = false;
    const committed = await this.#onSession(sessionId, async (unit, session) => {
      const { idempotency } = request;
      const first = idempotency === undefined ? undefined : await claimKey(unit.tx, idempotency, this.keyTtlMs);
      if (first !== undefined) {
        replayed = true;
        return { run: toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: String(first['run_id']) } })) };
      }
      const queued = await insertCompaction(unit, session, request);
      if (idempotency !== undefined) await saveResult(unit.tx, idempotency, { run_id: queued.run.runId });
      return queued;
    });
    return { ...committed, replayed };
  }

  async #onSession<T>(
    sessionId: string,
    work: (unit: ProjectUnit, session: SessionRecord) => Promise<T>,
  ): Promise<Committed<T>> {
    const known = await this.db.run((client) => client.session.findUnique({ where: { id: sessionId } }));
    if (known === null) throw new AppError('session.not_found', 'There is no such conversation.');
    return inProject(this.db, known.projectId, async (unit) => {
      const row = await unit.tx.session.findUnique({ where: { id: sessionId } });
      if (row === null) throw new AppError('session.not_found', 'There is no such conversation.');
      return work(unit, toSession(row));
    });
  }
}

async function insertSession(unit: ProjectUnit, session: NewSession): Promise<SessionRecord> {
  const { projectId, userId, title, model, permissionMode } = session;
  const project = await unit.tx.project.findUniqueOrThrow({ where: { id: projectId }, select: { deletingAt: true } });
  if (project.deletingAt !== null) throw new AppError('project.not_found', 'There is no such project.');
  const row = await unit.tx.session.create({
    data: {
      id: newId(),
      projectId,
      createdBy: userId,
      title: title === undefined ? null : storableText(title),
      titleByUser: title !== undefined,
      model: model ?? null,
      permissionMode: permissionMode ?? null,
    },
  });
  await unit.tx.project.update({ where: { id: projectId }, data: { currentSessionId: row.id } });
  const payload = { session_id: row.id, ...(row.title === null ? {} : { title: row.title }) };
  unit.append([{ type: 'session.created', sessionId: row.id, payload }]);
  return toSession(row);
}

async function activeRun(tx: Tx, sessionId: string): Promise<RunRecord | undefined> {
  const row = await tx.run.findFirst({
    where: { sessionId, status: { in: [...LANE_HOLDING_STATUSES, 'parked'] } },
  });
  return row === null ? undefined : toRun(row);
}

async function refuseWhileBusy(tx: Tx, sessionId: string): Promise<void> {
  const row = await tx.run.findFirst({
    where: { sessionId, status: { in: [...UNFINISHED_RUN_STATUSES] } },
    orderBy: { position: 'asc' },
  });
  if (row !== null) throw await lockedBy(tx, toRun(row));
}

/** The next prompt of its project begins another. */
async function leave(unit: ProjectUnit, { sessionId, projectId }: SessionRecord): Promise<void> {
  const { count } = await unit.tx.project.updateMany({
    where: { id: projectId, currentSessionId: sessionId },
    data: { currentSessionId: null },
  });
  if (count === 0) return;
  unit.append([{ type: 'session.reset', payload: { old_session_id: sessionId, reason: 'archived' } }]);
}
