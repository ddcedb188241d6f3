// Runs as clients ask for them, in Postgres. Each change is one unit of work on its project (R1).
import type {
  Committed,
  NewCommand,
  NewPrompt,
  Page,
  PageRequest,
  PromptEdit,
  QueuedRun,
  QueueLaneRecord,
  QueueSnapshotRecord,
  Replayable,
  RunRecord,
  RunStore,
  SessionRecord,
} from '#domain';
import { isFinal } from '#domain';
import { AppError, LANE_HOLDING_STATUSES, type RunStatus } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { decodeCursor, toPage } from '../page-cursor.js';
import { enqueue } from './enqueue.js';
import { KEY_TTL_MS } from './idempotency.js';
import { ask } from './intents.js';
import { editPrompt, moveQueued, setLanePause } from './queue-operations.js';
import { moveRun } from './move-run.js';
import { positionsOf, readQueue } from './queue-snapshot.js';
import { runFinished } from './run-events.js';
import { toRun, toSession } from './run-rows.js';

const holding = [...LANE_HOLDING_STATUSES];

export class PgRunStore implements RunStore {
  /** `keyTtlMs`: how long an idempotency key counts. */
  constructor(
    private readonly db: Database,
    private readonly keyTtlMs: number = KEY_TTL_MS,
  ) {}

  async enqueuePrompt(prompt: NewPrompt): Promise<Replayable<QueuedRun>> {
    return enqueue(this.db, { kind: 'prompt', ...prompt }, this.keyTtlMs);
  }

  async enqueueCommand(command: NewCommand): Promise<Replayable<QueuedRun>> {
    return enqueue(this.db, { kind: 'command', ...command }, this.keyTtlMs);
  }

  async edit(runId: string, userId: string, changes: PromptEdit): Promise<Committed<QueuedRun>> {
    return this.#onRun(runId, (unit, run) => editPrompt(unit, run, userId, changes));
  }

  async move(runId: string, userId: string, beforeRunId?: string): Promise<Committed<QueuedRun>> {
    return this.#onRun(runId, (unit, run) => moveQueued(unit, run, userId, beforeRunId));
  }

  async pauseLane(projectId: string, lane: string, userId: string): Promise<Committed<QueueLaneRecord>> {
    return inProject(this.db, projectId, (unit) => setLanePause(unit, { lane, userId, paused: true }));
  }

  async resumeLane(projectId: string, lane: string, userId: string): Promise<Committed<QueueLaneRecord>> {
    return inProject(this.db, projectId, (unit) => setLanePause(unit, { lane, userId, paused: false }));
  }

  async cancel(runId: string, userId: string): Promise<Committed<RunRecord>> {
    return this.#onRun(runId, async (unit, run) => {
      if (isFinal(run.status)) {
        throw new AppError('run.already_finished', 'The run is over already.', { details: { status: run.status } });
      }
      return run.status === 'queued' ? cancelQueued(unit, run) : askToCancel(unit, run, userId);
    });
  }

  async activeOf(projectId: string, lane: string): Promise<RunRecord | undefined> {
    const row = await this.db.run((client) =>
      client.run.findFirst({ where: { projectId, lane, status: { in: holding } } }),
    );
    return row === null ? undefined : toRun(row);
  }

  async find(runId: string): Promise<RunRecord | undefined> {
    const row = await this.db.run((client) => client.run.findUnique({ where: { id: runId } }));
    return row === null ? undefined : toRun(row);
  }

  async findQueued(runId: string): Promise<QueuedRun | undefined> {
    const run = await this.find(runId);
    if (run?.status !== 'queued') return run === undefined ? undefined : { run };
    const position = (await this.db.run((client) => positionsOf(client, run.projectId, [runId]))).get(runId);
    return { run, ...(position === undefined ? {} : { position }) };
  }

  async list(projectId: string, filter: { status?: RunStatus }, page: PageRequest): Promise<Page<QueuedRun>> {
    const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
    return this.db.run(async (client) => {
      const rows = await client.run.findMany({
        where: {
          projectId,
          ...(filter.status === undefined ? {} : { status: filter.status }),
          ...(after === undefined ? {} : { id: { lt: after.id } }),
        },
        orderBy: { id: 'desc' },
        take: page.limit + 1,
      });
      const queued = rows.filter(({ status }) => status === 'queued').map(({ id }) => id);
      const positions = await positionsOf(client, projectId, queued);
      return toPage(
        rows,
        page.limit,
        (row) => ({ at: row.queuedAt, id: row.id }),
        (row) => {
          const position = positions.get(row.id);
          return { run: toRun(row), ...(position === undefined ? {} : { position }) };
        },
      );
    });
  }

  async queue(projectId: string): Promise<QueueSnapshotRecord> {
    return this.db.run((client) => readQueue(client, projectId));
  }

  async commandHistory(
    projectId: string,
    filter: { workingDir?: string; limit: number; previewChars: number },
  ): Promise<{ run: RunRecord; preview: string }[]> {
    return this.db.run(async (client) => {
      const rows = await client.run.findMany({
        where: {
          projectId,
          kind: 'command',
          ...(filter.workingDir === undefined ? {} : { workingDir: filter.workingDir }),
        },
        orderBy: { id: 'desc' },
        take: filter.limit,
      });
      const previews = await previewsOf(client, rows, filter.previewChars);
      return rows.map((row) => ({ run: toRun(row), preview: previews.get(row.id) ?? '' }));
    });
  }

  async resetSession(projectId: string): Promise<Committed<{ oldSessionId: string | null }>> {
    return inProject(this.db, projectId, async (unit) => {
      const project = await unit.tx.project.findUniqueOrThrow({ where: { id: projectId } });
      await unit.tx.project.update({ where: { id: projectId }, data: { currentSessionId: null } });
      unit.append([
        {
          type: 'session.reset',
          payload: { old_session_id: project.currentSessionId ?? '', reason: 'user_requested' },
        },
      ]);
      return { oldSessionId: project.currentSessionId };
    });
  }

  async findSession(sessionId: string): Promise<SessionRecord | undefined> {
    const row = await this.db.run((client) => client.session.findUnique({ where: { id: sessionId } }));
    return row === null ? undefined : toSession(row);
  }

  async listSessions(
    viewer: { userId: string; isAdmin: boolean; projectId?: string },
    page: PageRequest,
  ): Promise<Page<SessionRecord>> {
    const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
    const mine = { memberships: { some: { userId: viewer.userId } } };
    const rows = await this.db.run((client) =>
      client.session.findMany({
        where: {
          ...(viewer.projectId === undefined ? {} : { projectId: viewer.projectId }),
          project: { deletingAt: null, ...(viewer.isAdmin ? {} : mine) },
          ...(after === undefined
            ? {}
            : { OR: [{ updatedAt: { lt: after.at } }, { updatedAt: after.at, id: { lt: after.id } }] }),
        },
        orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
      }),
    );
    return toPage(rows, page.limit, (row) => ({ at: row.updatedAt, id: row.id }), toSession);
  }

  async #onRun<T>(runId: string, work: (unit: ProjectUnit, run: RunRecord) => Promise<T>): Promise<Committed<T>> {
    const known = await this.find(runId);
    if (known === undefined) throw new AppError('run.not_found', 'There is no such run.');
    return inProject(this.db, known.projectId, async (unit) =>
      work(unit, toRun(await unit.tx.run.findUniqueOrThrow({ where: { id: runId } }))),
    );
  }
}

async function cancelQueued(unit: ProjectUnit, run: RunRecord): Promise<RunRecord> {
  const end = { finishedAt: new Date(), errorCode: 'run.cancelled', errorMessage: 'Cancelled.' };
  const row = await moveRun(unit.tx, run, 'cancelled', end);
  unit.append([runFinished(run, { status: 'cancelled' }, undefined)]);
  unit.queueChanged();
  // The run behind it may belong to a conversation that is free.
  if (await unit.promote()) unit.refreshState();
  return toRun(row);
}

async function askToCancel(unit: ProjectUnit, run: RunRecord, userId: string): Promise<RunRecord> {
  await ask(unit, run, { kind: 'cancel', userId });
  return run;
}

/** The first characters of each command's output, from as few chunks as that takes, in one query. */
async function previewsOf(tx: Tx, runs: { id: string }[], chars: number): Promise<Map<string, string>> {
  const ids = runs.map(({ id }) => id);
  const rows = await tx.$queryRaw<{ id: string; data: Uint8Array }[]>`
    SELECT r.id, c.data FROM run r, LATERAL (
      SELECT string_agg(part, ''::bytea ORDER BY "offset") AS data FROM (
        SELECT "offset", substring(data FROM 1 FOR ${chars * 4}::int) AS part FROM output_chunk
        WHERE run_id = r.id ORDER BY "offset" LIMIT 20) AS first) AS c
    WHERE r.id = ANY(${ids}::uuid[]) AND r.output_bytes > 0 AND r.output_expired_at IS NULL AND c.data IS NOT NULL`;
  const decoder = new TextDecoder();
  return new Map(rows.map(({ id, data }) => [id, decoder.decode(data).slice(0, chars)]));
}
