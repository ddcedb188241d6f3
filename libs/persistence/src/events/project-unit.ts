// One unit of work on a project: locks the head first (R1), numbers events, promotes lanes, and remembers what to announce
// after the commit.
import { projectStateAfter, type Announcement, type Committed, type EventDraft, type Dispatch } from '#domain';
import { AppError, LANE_HOLDING_STATUSES, type FinalRunStatus, type ProjectState } from '#kernel';
import { type Columns, modelColumns } from '../columns.js';
import type { Database, Tx } from '../database.js';
import type { Project } from '../generated/client.js';
import { promoteLanes } from '../runs/promote.js';
import { queueAt } from '../runs/queue-snapshot.js';
import { runUpdated } from '../runs/run-events.js';
import { writeUnit } from './unit-writer.js';

export class ProjectUnit {
  readonly wakeHostIds = new Set<string>();
  readonly #drafts: EventDraft[] = [];
  readonly #dispatches: Dispatch[] = [];
  #queueChanged = false;
  #outputBytes = 0;
  #stateChange: { finished: FinalRunStatus | undefined } | undefined;
  #isActive = false;

  /** `project`: as it was when its head was locked; who holds the lock is the only one to change its state. */
  constructor(
    readonly tx: Tx,
    readonly project: LockedProject,
  ) {}

  get projectId(): string {
    return this.project.id;
  }

  /** Appends events with the next sequence numbers, in order: all of a unit at once, at its end. */
  append(drafts: EventDraft[]): void {
    this.#drafts.push(...drafts);
  }

  queueChanged(): void {
    this.#queueChanged = true;
  }

  /** Bytes of output that finished runs of the project have more than before; fewer when negative. */
  storedOutput(bytes: number): void {
    this.#outputBytes += bytes;
  }

  /** Gives free lanes to parked runs that were answered, else to their first queued run. True when that changed anything. */
  async promote(): Promise<boolean> {
    const { dispatches, returned } = await promoteLanes(this.tx, this.projectId);
    if (dispatches.length + returned.length === 0) return false;
    this.#dispatches.push(...dispatches);
    this.#isActive = true;
    for (const run of returned) {
      this.append([runUpdated(run, { status: run.status })]);
      this.wakeHostIds.add(run.hostId);
    }
    this.queueChanged();
    return true;
  }

  /** At the end of the unit sets IDLE, EXECUTING or ERROR from what is active then and how a run ended; appends project.state on a change. */
  refreshState(finished?: FinalRunStatus): void {
    this.#stateChange = { finished: finished ?? this.#stateChange?.finished };
  }

  /** A run is at work or waits at the end of this unit, whoever else asks. */
  runIsActive(): void {
    this.#isActive = true;
  }

  /** The dispatch of a run, if this unit has promoted it. */
  dispatchOf(runId: string): Dispatch | undefined {
    return this.#dispatches.find((dispatch) => dispatch.runId === runId);
  }

  /** Writes what was gathered, in one statement, and says what to announce after the commit. */
  async conclude(): Promise<Announcement> {
    const state = this.#stateChange === undefined ? undefined : await this.#stateAfter(this.#stateChange.finished);
    const head = await writeUnit(this.tx, this.projectId, {
      drafts: this.#drafts,
      queueChanged: this.#queueChanged,
      outputBytes: this.#outputBytes,
      ...(state === undefined ? {} : { state }),
    });
    const queue = this.#queueChanged ? await queueAt(this.tx, this.projectId, head.queueRevision) : undefined;
    return {
      projectId: this.projectId,
      events: head.events,
      dispatches: this.#dispatches,
      ...(queue === undefined ? {} : { queue }),
      wakeHostIds: [...this.wakeHostIds],
    };
  }

  async #stateAfter(finished: FinalRunStatus | undefined): Promise<ProjectState> {
    const before = this.project.state as ProjectState;
    const state = projectStateAfter(before, this.#isActive || (await this.#hasActiveRun()) ? 1 : 0, finished);
    if (state !== before) this.append([{ type: 'project.state', payload: { state } }]);
    return state;
  }

  async #hasActiveRun(): Promise<boolean> {
    const [row] = await this.tx.$queryRaw<unknown[]>`SELECT 1 FROM run WHERE project_id = ${this.projectId}::uuid
      AND status = ANY(${[...LANE_HOLDING_STATUSES, 'parked']}::text[]) LIMIT 1`;
    return row !== undefined;
  }
}

export type LockedProject = Project & { sandboxId: string | null };

/**
 * The project's row is locked with the head (against its own kind only, so that rows that refer to it can be added): who waited for a lock
 * is given those rows anew that it locks, and of any other what there was before it waited. Throws `project.not_found`.
 */
async function lockProject(tx: Tx, projectId: string): Promise<LockedProject> {
  const [row] = await tx.$queryRaw<Columns[]>`
    SELECT p.*, (SELECT s.id FROM sandbox s WHERE s.project_id = p.id) AS sandbox_id
    FROM project_head h JOIN project p ON p.id = h.project_id WHERE h.project_id = ${projectId}::uuid
    FOR UPDATE OF h FOR NO KEY UPDATE OF p`;
  if (row === undefined) throw new AppError('project.not_found', 'There is no such project.');
  return modelColumns(row) as LockedProject;
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
    const unit = new ProjectUnit(tx, await lockProject(tx, projectId));
    const result = await work(unit);
    return { result, announcement: await unit.conclude() };
  });
}
