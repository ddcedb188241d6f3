// Projects in Postgres.
import {
  pathsNest,
  type Committed,
  type NewProject,
  type Page,
  type PageRequest,
  type ProjectPatch,
  type ProjectRecord,
  type ProjectStore,
  type Replayable,
} from '#domain';
import { AppError, newId, type ProjectState, type Role } from '#kernel';
import type { Database, Tx } from '../database.js';
import { inProject } from '../events/project-unit.js';
import { Prisma } from '../generated/client.js';
import { decodeCursor, toPage } from '../page-cursor.js';
import { deleteHistory } from '../retention/project-history.js';
import { claimKey, isKnownKey, KEY_TTL_MS, saveResult } from '../runs/idempotency.js';
import { storable } from '../storable.js';
import { toSettings } from './project-settings.js';

interface ProjectRow {
  id: string;
  host_id: string;
  name: string;
  path: string;
  image: string | null;
  options: Record<string, unknown>;
  settings: Record<string, unknown>;
  state: string;
  current_session_id: string | null;
  created_by: string;
  created_at: Date;
  last_active_at: Date;
  deleting_at: Date | null;
  head_seq: bigint;
  oldest_seq: bigint;
  event_count: bigint;
  message_count: bigint;
  first_message_at: Date | null;
  last_message_at: Date | null;
  queued_runs: number;
  active_runs: number;
}

const toProject = (row: ProjectRow): ProjectRecord => ({
  projectId: row.id,
  hostId: row.host_id,
  name: row.name,
  path: row.path,
  image: row.image,
  options: row.options,
  settings: toSettings(row.settings),
  state: row.state as ProjectState,
  currentSessionId: row.current_session_id,
  createdBy: row.created_by,
  createdAt: row.created_at,
  lastActiveAt: row.last_active_at,
  firstMessageAt: row.first_message_at,
  lastMessageAt: row.last_message_at,
  messageCount: Number(row.message_count),
  eventCount: Number(row.event_count),
  headSeq: Number(row.head_seq),
  oldestSeq: Number(row.oldest_seq),
  queuedRuns: row.queued_runs,
  activeRuns: row.active_runs,
  deleting: row.deleting_at !== null,
});

const SELECT = Prisma.sql`
  SELECT p.*, h.head_seq, h.oldest_seq, h.event_count, h.message_count, h.first_message_at, h.last_message_at,
    (SELECT count(*)::int FROM run r WHERE r.project_id = p.id AND r.status = 'queued') AS queued_runs,
    (SELECT count(*)::int FROM run r WHERE r.project_id = p.id AND r.status IN ('dispatched', 'running', 'waiting', 'paused', 'parked'))
      AS active_runs
  FROM project p JOIN project_head h ON h.project_id = p.id`;

export async function readProject(tx: Tx, projectId: string): Promise<ProjectRecord | undefined> {
  const [row] = await tx.$queryRaw<ProjectRow[]>`${SELECT} WHERE p.id = ${projectId}::uuid`;
  return row === undefined ? undefined : toProject(row);
}

async function requireProject(tx: Tx, projectId: string): Promise<ProjectRecord> {
  const project = await readProject(tx, projectId);
  if (project === undefined || project.deleting) {
    throw new AppError('project.not_found', 'There is no such project.');
  }
  return project;
}

export class PgProjectStore implements ProjectStore {
  /** `keyTtlMs`: how long an idempotency key counts. */
  constructor(
    private readonly db: Database,
    private readonly keyTtlMs: number = KEY_TTL_MS,
  ) {}

  async list(viewer: { userId: string; isAdmin: boolean }, page: PageRequest): Promise<Page<ProjectRecord>> {
    const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
    const visible = viewer.isAdmin
      ? Prisma.sql`TRUE`
      : Prisma.sql`EXISTS (SELECT 1 FROM membership m WHERE m.project_id = p.id AND m.user_id = ${viewer.userId}::uuid)`;
    const beyond =
      after === undefined
        ? Prisma.sql`TRUE`
        : Prisma.sql`(p.last_active_at, p.id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`;
    const rows = await this.db.run(
      (client) => client.$queryRaw<ProjectRow[]>`${SELECT} WHERE p.deleting_at IS NULL AND ${visible} AND ${beyond}
        ORDER BY p.last_active_at DESC, p.id DESC LIMIT ${page.limit + 1}`,
    );
    return toPage(rows, page.limit, (row) => ({ at: row.last_active_at, id: row.id }), toProject);
  }

  async existing(projectIds: string[]): Promise<Set<string>> {
    const rows = await this.db.run((client) =>
      client.project.findMany({ where: { id: { in: projectIds } }, select: { id: true } }),
    );
    return new Set(rows.map(({ id }) => id));
  }

  async find(projectId: string): Promise<ProjectRecord | undefined> {
    const project = await this.db.run((client) => readProject(client, projectId));
    return project === undefined || project.deleting ? undefined : project;
  }

  async checkPlace({ idempotency, ...place }: Pick<NewProject, 'hostId' | 'path' | 'idempotency'>): Promise<void> {
    await this.db.run(async (client) => {
      try {
        await refuseConflicts(client, place);
      } catch (conflict) {
        // Asked after the conflict showed: whoever sees the project of a first call sees its key, too.
        if (idempotency === undefined || !(await isKnownKey(client, idempotency, this.keyTtlMs))) throw conflict;
      }
    });
  }

  async create(project: NewProject): Promise<Replayable<ProjectRecord>> {
    return this.db.transaction(async (tx) => {
      const announcement = { projectId: project.projectId, events: [], dispatches: [], wakeHostIds: [] };
      if (project.idempotency !== undefined) {
        const first = await claimKey(tx, project.idempotency, this.keyTtlMs);
        if (first !== undefined) {
          const result = await requireProject(tx, String(first['project_id']));
          return { result, replayed: true, announcement: { ...announcement, projectId: result.projectId } };
        }
      }
      await lockPaths(tx, project.hostId);
      await refuseConflicts(tx, project);
      await insertProject(tx, project);
      if (project.idempotency !== undefined) {
        await saveResult(tx, project.idempotency, { project_id: project.projectId });
      }
      return { result: await requireProject(tx, project.projectId), replayed: false, announcement };
    });
  }

  async update(projectId: string, patch: ProjectPatch): Promise<Committed<ProjectRecord>> {
    return inProject(this.db, projectId, async (unit) => {
      await requireProject(unit.tx, projectId);
      await unit.tx.project.update({
        where: { id: projectId },
        data: {
          ...(patch.name === undefined ? {} : { name: patch.name }),
          ...(patch.options === undefined ? {} : { options: storable(patch.options) }),
        },
      });
      if (patch.settings !== undefined) await mergeSettings(unit.tx, projectId, patch.settings);
      unit.append([{ type: 'project.updated', payload: { ...patch } }]);
      return requireProject(unit.tx, projectId);
    });
  }

  async beginDelete(projectId: string): Promise<Committed<ProjectRecord>> {
    return inProject(this.db, projectId, async (unit) => {
      const project = await requireProject(unit.tx, projectId);
      const busy = await unit.tx.run.count({
        where: { projectId, status: { in: ['queued', 'dispatched', 'running', 'waiting', 'parked', 'paused'] } },
      });
      if (busy > 0) {
        throw new AppError('project.busy', 'The project has runs that are active or queued; cancel them first.');
      }
      unit.append([{ type: 'project.deleted', payload: { project_id: projectId, path: project.path } }]);
      await unit.tx.project.update({ where: { id: projectId }, data: { deletingAt: new Date() } });
      return project;
    });
  }

  async listDeleting(hostId: string): Promise<{ projectId: string; sandboxId: string | null }[]> {
    const rows = await this.db.run((client) =>
      client.project.findMany({
        where: { hostId, deletingAt: { not: null } },
        select: { id: true, sandbox: { select: { id: true } } },
      }),
    );
    return rows.map((row) => ({ projectId: row.id, sandboxId: row.sandbox?.id ?? null }));
  }

  async finishDelete(projectId: string): Promise<void> {
    await deleteHistory(this.db, projectId);
    await this.db.transaction(async (tx) => {
      await tx.intent.deleteMany({ where: { projectId } });
      await tx.project.deleteMany({ where: { id: projectId, deletingAt: { not: null } } });
    });
  }

  async roleOf(projectId: string, userId: string): Promise<Role | undefined> {
    const row = await this.db.run((client) =>
      client.membership.findUnique({ where: { projectId_userId: { projectId, userId } } }),
    );
    return row === null ? undefined : (row.role as Role);
  }
}

/** Key by key; null takes a key away. */
async function mergeSettings(tx: Tx, projectId: string, patch: Record<string, unknown>): Promise<void> {
  await tx.$executeRaw`UPDATE project SET settings = jsonb_strip_nulls(settings || ${JSON.stringify(storable(patch))}::jsonb)
    WHERE id = ${projectId}::uuid`;
}

/** Makes the check of a path and the insert one step per host. */
async function lockPaths(tx: Tx, hostId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${'project-paths:' + hostId}, 0))`;
}

/** One folder belongs to one project and no project lies in another. */
async function refuseConflicts(tx: Tx, project: Pick<NewProject, 'hostId' | 'path'>): Promise<void> {
  const others = await tx.$queryRaw<{ path: string }[]>`SELECT path FROM project WHERE host_id = ${project.hostId}::uuid
    AND (path = ${project.path} OR starts_with(path, ${project.path + '/'}) OR starts_with(${project.path}, path || '/'))`;
  if (others.some((other) => other.path === project.path)) {
    throw new AppError('project.path_taken', 'This folder belongs to a project already.');
  }
  if (others.some((other) => pathsNest(other.path, project.path))) {
    throw new AppError('project.path_nested', 'A project cannot lie inside another project.');
  }
}

async function insertProject(tx: Tx, project: NewProject): Promise<void> {
  await tx.project.create({
    data: {
      id: project.projectId,
      hostId: project.hostId,
      name: project.name,
      path: project.path,
      image: project.image ?? null,
      options: storable(project.options),
      createdBy: project.userId,
      head: { create: {} },
      sandbox: { create: { id: newId(), hostId: project.hostId } },
      memberships: { create: { userId: project.userId, role: 'owner' } },
    },
  });
}
