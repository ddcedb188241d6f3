// Where projects are kept. Adapter: libs/persistence.
import type { Role } from '#kernel';
import type { Committed } from '../events/committed.js';
import type { Page, PageRequest } from '../events/page.js';
import type { IdempotencyClaim, Replayable } from '../runs/idempotency.js';
import type { ProjectRecord } from './project-record.js';

export interface NewProject {
  projectId: string;
  userId: string;
  hostId: string;
  path: string;
  name: string;
  image?: string;
  options: Record<string, unknown>;
  idempotency?: IdempotencyClaim;
}

export interface ProjectPatch {
  name?: string;
  options?: Record<string, unknown>;
  /** As they go over the wire; merged key by key, null takes a key away. */
  settings?: Record<string, unknown>;
}

export interface ProjectStore {
  /** Projects that the user may see, most recently active first; those being deleted are left out. */
  list(viewer: { userId: string; isAdmin: boolean }, page: PageRequest): Promise<Page<ProjectRecord>>;
  find(projectId: string): Promise<ProjectRecord | undefined>;
  /** Those of the ids that belong to a project, also to one that is being deleted. */
  existing(projectIds: string[]): Promise<Set<string>>;
  /**
   * Throws what `create` would throw for the place of a project now, so that no folder is made for one that is refused. Says nothing to a
   * repetition: `create` knows its first result.
   */
  checkPlace(project: Pick<NewProject, 'hostId' | 'path' | 'idempotency'>): Promise<void>;
  /** Throws `project.path_taken`, `project.path_nested`, `request.idempotency_mismatch`. */
  create(project: NewProject): Promise<Replayable<ProjectRecord>>;
  /** Throws `project.not_found`. */
  update(projectId: string, patch: ProjectPatch): Promise<Committed<ProjectRecord>>;
  /** Hides the project and appends `project.deleted`. Throws `project.busy` while a run is queued or active, `project.not_found`. */
  beginDelete(projectId: string): Promise<Committed<ProjectRecord>>;
  /** Projects of a host whose deletion began; their sandboxes may be gone already. */
  listDeleting(hostId: string): Promise<{ projectId: string; sandboxId: string | null }[]>;
  /** Removes every row of a project whose deletion began. Idempotent. */
  finishDelete(projectId: string): Promise<void>;
  roleOf(projectId: string, userId: string): Promise<Role | undefined>;
}
