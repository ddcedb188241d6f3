// Making and removing projects: the folder is the host's business, the rows are the store's.
import { basename } from 'node:path/posix';
import {
  checkProjectPath,
  type HostClient,
  type HostRecord,
  type HostStore,
  isWithin,
  type ProjectRecord,
  type ProjectStore,
} from '#domain';
import { AppError, newId } from '#kernel';
import { type ClientRequest, isShowable, LIMITS, SHOWABLE_RULE } from '#protocol';
import type { CommitAnnouncer } from '../live/commit-announcer.js';
import type { FeatureSettings } from '../ports.js';
import { checkTimeout } from '../runs/run-options.js';
import { idempotencyClaim } from '../transport/idempotency-claim.js';
import { invalidPayload } from '../transport/payload.js';
import type { ProjectContext, RequestContext } from '../transport/request-context.js';
import { chooseHost, rootsOf } from './choose-host.js';

export interface LifecyclePorts {
  projects: ProjectStore;
  hosts: HostStore;
  hostClient: HostClient;
}

/** A folder may be on a slow disk; a container takes a moment to stop. */
const HOST_DEADLINE_MS = 5000;

export class ProjectLifecycle {
  constructor(
    private readonly ports: LifecyclePorts,
    private readonly announcer: CommitAnnouncer,
    private readonly settings: FeatureSettings,
    private readonly report: (error: unknown, context: Record<string, unknown>) => void,
  ) {}

  async create(request: ClientRequest<'project_create'>, context: RequestContext): Promise<ProjectRecord> {
    checkTimeout(request.options?.timeout_ms, 'options.timeout_ms', this.settings);
    const { path, host } = await this.placeOf(request.path);
    const claim = idempotencyClaim('project_create', context.user.userId, request);
    await this.ports.projects.checkPlace({ path, hostId: host.hostId, ...claim });
    const { realPath } = await this.ports.hostClient.request(
      host.hostId,
      'project.prepare_path',
      { path, roots: host.projectRoots },
      { deadlineMs: HOST_DEADLINE_MS, correlationId: context.correlationId },
    );
    if (!isShowable(realPath))
      throw invalidPayload([{ path: 'path', message: `leads to a folder that ${SHOWABLE_RULE}` }]);
    return this.announcer.announced(
      await this.ports.projects.create({
        projectId: newId(),
        userId: context.user.userId,
        hostId: host.hostId,
        // Without links, so that no project can lie inside another by a detour.
        path: realPath,
        name: request.name ?? basename(path).slice(0, LIMITS.maxNameLength),
        ...(request.image === undefined ? {} : { image: request.image }),
        options: request.options ?? {},
        ...claim,
      }),
    );
  }

  async update(request: ClientRequest<'project_update'>): Promise<ProjectRecord> {
    const { project_id: projectId, name, options, settings } = request;
    checkTimeout(options?.timeout_ms, 'options.timeout_ms', this.settings);
    return this.announcer.announced(
      await this.ports.projects.update(projectId, {
        ...(name === undefined ? {} : { name }),
        ...(options === undefined ? {} : { options }),
        ...(settings === undefined ? {} : { settings }),
      }),
    );
  }

  /** The project is gone for its users when this returns. A host that does not answer removes the rest later, when it reconciles. */
  async remove({ project, correlationId }: ProjectContext): Promise<void> {
    const { projectId, hostId } = this.announcer.announced(await this.ports.projects.beginDelete(project.projectId));
    try {
      await this.ports.hostClient.request(
        hostId,
        'project.remove',
        { projectId },
        { deadlineMs: HOST_DEADLINE_MS, correlationId },
      );
    } catch (error) {
      this.report(error, { operation: 'project.remove', project_id: projectId, correlation_id: correlationId });
    }
  }

  /** The checked path, and the host with most room among those that have a root above it. */
  private async placeOf(asked: string): Promise<{ path: string; host: HostRecord }> {
    const [hosts, loads] = await Promise.all([this.ports.hosts.list(), this.ports.hosts.queueDepth()]);
    // Whether the worker is there or not: a path that no host could take is said to be wrong. Before the first host any might be right.
    const path = checkProjectPath(asked, hosts.length === 0 ? ['/'] : rootsOf(hosts));
    const host = chooseHost(
      hosts.filter(({ held, projectRoots }) => held && projectRoots.some((root) => isWithin(path, root))),
      loads,
    );
    if (host === undefined) {
      throw new AppError('host.unavailable', 'No host is ready to take a project.', { retryAfterMs: 1000 });
    }
    return { path, host };
  }
}
