// One unit of work on a project: locks the head first (R1), numbers events, promotes lanes, and remembers what to announce
// after the commit.
import {
  choosePromotions,
  projectStateAfter,
  runTitle,
  type Announcement,
  type Committed,
  type EventDraft,
  type EventRecord,
  type Dispatch,
  type QueuedActiveRun,
  type QueueSnapshotRecord,
} from '#domain';
import {
  AppError,
  LANE_HOLDING_STATUSES,
  newId,
  type FinalRunStatus,
  type ProjectState,
  type RunKind,
  type RunStatus,
  type WaitReason,
} from '#kernel';
import type { Database, Tx } from '../database.js';
import { Prisma } from '../generated/client.js';
import { storable } from '../storable.js';

const holding = [...LANE_HOLDING_STATUSES];

export class ProjectUnit {
  readonly wakeHostIds = new Set<string>();
  readonly #events: EventRecord[] = [];
  readonly #dispatches: Dispatch[] = [];
  #queueChanged = false;

  constructor(
    readonly tx: Tx,
    readonly projectId: string,
  ) {}

  /** Appends events with the next sequence numbers, in order. */
  async append(drafts: EventDraft[]): Promise<EventRecord[]> {
    if (drafts.length === 0) return [];
    const messages = drafts.filter((draft) => draft.type.startsWith('message.')).length;
    const [head] = await this.tx.$queryRaw<{ head_seq: bigint; now: Date }[]>`
      UPDATE project_head SET head_seq = head_seq + ${drafts.length}, event_count = event_count + ${drafts.length},
        message_count = message_count + ${messages},
        first_message_at = CASE WHEN ${messages} > 0 THEN COALESCE(first_message_at, now()) ELSE first_message_at END,
        last_message_at = CASE WHEN ${messages} > 0 THEN now() ELSE last_message_at END
      WHERE project_id = ${this.projectId}::uuid
      RETURNING head_seq, date_trunc('milliseconds', clock_timestamp()) AS now`;
    if (head === undefined) throw new AppError('project.not_found', 'There is no such project.');
    const first = Number(head.head_seq) - drafts.length + 1;
    const records = drafts.map((draft, index) => ({
      projectId: this.projectId,
      seq: first + index,
      eventId: draft.eventId ?? newId(),
      type: draft.type,
      sessionId: draft.sessionId ?? null,
      runId: draft.runId ?? null,
      payload: draft.payload,
      createdAt: head.now,
    }));
    await this.tx.event.createMany({
      data: records.map(({ eventId, payload, ...record }) => ({
        ...record,
        id: eventId,
        payload: storable(payload),
        payloadBytes: Buffer.byteLength(JSON.stringify(payload)),
      })),
    });
    this.#events.push(...records);
    return records;
  }

  queueChanged(): void {
    this.#queueChanged = true;
  }

  /** Dispatches the first queued run of every free lane whose conversation is free too. */
  async promote(): Promise<void> {
    const heads = await this.tx.$queryRaw<{ id: string; lane: string; session_id: string | null; position: bigint }[]>`
      SELECT DISTINCT ON (lane) id, lane, session_id, position FROM run
      WHERE project_id = ${this.projectId}::uuid AND status = 'queued' ORDER BY lane, position`;
    if (heads.length === 0) return;
    const held = await this.tx.run.findMany({
      where: { projectId: this.projectId, status: { in: [...holding, 'parked'] } },
      select: { lane: true, sessionId: true, status: true },
    });
    const chosen = choosePromotions({
      waiting: heads.map((row) => ({
        runId: row.id,
        lane: row.lane,
        sessionId: row.session_id,
        position: Number(row.position),
      })),
      busyLanes: held.filter((run) => run.status !== 'parked').map((run) => run.lane),
      busySessions: held.flatMap((run) => (run.sessionId === null ? [] : [run.sessionId])),
    });
    if (chosen.length > 0) await this.#dispatch(chosen);
  }

  async #dispatch(runIds: string[]): Promise<void> {
    const rows = await this.tx.$queryRaw<
      { id: string; host_id: string; dispatch_no: number; correlation_id: string }[]
    >`UPDATE run SET status = 'dispatched', dispatch_no = dispatch_no + 1, dispatched_at = now()
      WHERE id IN (${Prisma.join(runIds.map((id) => Prisma.sql`${id}::uuid`))}) AND status = 'queued'
      RETURNING id, host_id, dispatch_no, correlation_id`;
    for (const row of rows) {
      this.#dispatches.push({
        runId: row.id,
        hostId: row.host_id,
        projectId: this.projectId,
        dispatchNo: row.dispatch_no,
        correlationId: row.correlation_id,
      });
    }
    this.queueChanged();
  }

  /** Sets IDLE, EXECUTING or ERROR from what is active now and how the last run ended; appends project.state on a change. */
  async refreshState(finished?: FinalRunStatus): Promise<void> {
    const active = await this.tx.run.count({ where: { projectId: this.projectId, status: { in: holding } } });
    const project = await this.tx.project.findUniqueOrThrow({
      where: { id: this.projectId },
      select: { state: true },
    });
    const state = projectStateAfter(project.state as ProjectState, active, finished);
    await this.tx.project.update({ where: { id: this.projectId }, data: { state, lastActiveAt: new Date() } });
    if (state !== project.state) await this.append([{ type: 'project.state', payload: { state } }]);
  }

  async announcement(): Promise<Announcement> {
    const queue = this.#queueChanged ? await bumpQueue(this.tx, this.projectId) : undefined;
    return {
      projectId: this.projectId,
      events: this.#events,
      dispatches: this.#dispatches,
      ...(queue === undefined ? {} : { queue }),
      wakeHostIds: [...this.wakeHostIds],
    };
  }
}

async function bumpQueue(tx: Tx, projectId: string): Promise<QueueSnapshotRecord> {
  await tx.projectHead.update({ where: { projectId }, data: { queueRevision: { increment: 1 } } });
  return readQueue(tx, projectId);
}

/** The lanes of a project: who holds each, and who waits. */
export async function readQueue(tx: Tx, projectId: string): Promise<QueueSnapshotRecord> {
  const head = await tx.projectHead.findUnique({ where: { projectId }, select: { queueRevision: true } });
  if (head === null) throw new AppError('project.not_found', 'There is no such project.');
  const runs = await tx.run.findMany({
    where: { projectId, status: { in: [...holding, 'parked', 'queued'] } },
    select: QUEUE_COLUMNS,
    orderBy: [{ lane: 'asc' }, { position: 'asc' }],
  });
  const lanes = new Map<string, QueueLane>();
  const laneOf = (name: string): QueueLane => {
    const lane = lanes.get(name) ?? { lane: name, queued: [] };
    lanes.set(name, lane);
    return lane;
  };
  for (const run of runs) placeInLane(laneOf(run.lane), run);
  const paused = await tx.lane.findMany({ where: { projectId }, orderBy: { name: 'asc' } });
  for (const { name, pausedAt, pausedBy } of paused) laneOf(name).paused = { since: pausedAt, by: pausedBy };
  return { projectId, revision: Number(head.queueRevision), lanes: [...lanes.values()] };
}

type QueueLane = QueueSnapshotRecord['lanes'][number];
const QUEUE_COLUMNS = {
  id: true,
  lane: true,
  status: true,
  kind: true,
  prompt: true,
  shellCommand: true,
  argv: true,
  startedAt: true,
  waitingSince: true,
  waitReason: true,
  resumeAt: true,
} as const;

function placeInLane(lane: QueueLane, row: Prisma.RunGetPayload<{ select: typeof QUEUE_COLUMNS }>): void {
  const kind = row.kind as RunKind;
  const title = runTitle({ ...row, kind });
  if (row.status === 'queued') {
    lane.queued.push({ runId: row.id, position: lane.queued.length, kind, title });
    return;
  }
  const active: QueuedActiveRun = {
    runId: row.id,
    kind,
    status: row.status as RunStatus,
    title,
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt }),
    ...(row.waitingSince === null ? {} : { waitingSince: row.waitingSince }),
    ...(row.waitReason === null ? {} : { waitReason: row.waitReason as WaitReason }),
    ...(row.resumeAt === null ? {} : { resumeAt: row.resumeAt }),
  };
  if (row.status === 'parked') lane.parked = [...(lane.parked ?? []), active];
  else Object.assign(lane, { activeRunId: row.id, active });
}

/** Locks the project's head and runs `work`; what it changed is announced by the caller after the commit. */
export async function inProject<T>(
  db: Database,
  projectId: string,
  work: (unit: ProjectUnit) => Promise<T>,
): Promise<Committed<T>> {
  return db.projects.run(projectId, () => inTransaction(db, projectId, work));
}

async function inTransaction<T>(
  db: Database,
  projectId: string,
  work: (unit: ProjectUnit) => Promise<T>,
): Promise<Committed<T>> {
  return db.transaction(async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT project_id FROM project_head WHERE project_id = ${projectId}::uuid FOR UPDATE`;
    if (locked.length === 0) throw new AppError('project.not_found', 'There is no such project.');
    const unit = new ProjectUnit(tx, projectId);
    const result = await work(unit);
    return { result, announcement: await unit.announcement() };
  });
}
