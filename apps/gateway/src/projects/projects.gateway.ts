// Client events about projects: listing, making, changing, removing, watching.
import { Inject, Injectable } from '@nestjs/common';
import type { ProjectStore } from '#domain';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import { membershipKey } from '../live/membership.js';
import { PORT } from '../ports.js';
import type { EventHandlers, ProjectContext, RequestContext } from '../transport/request-context.js';
import { ProjectJoin } from './project-join.js';
import { ProjectLifecycle } from './project-lifecycle.js';
import { ProjectWaker } from './project-waker.js';
import { toProjectInfo } from './project.wire.js';

type Events =
  | 'project_list'
  | 'project_get'
  | 'project_create'
  | 'project_update'
  | 'project_delete'
  | 'project_join'
  | 'project_leave';

@Injectable()
export class ProjectsGateway {
  readonly handlers: EventHandlers<Events> = {
    project_list: (request, context) => this.list(request, context),
    project_get: async (_, { project }) => toProjectInfo(project),
    project_create: async (request, context) => toProjectInfo(await this.lifecycle.create(request, context)),
    project_update: async (request) => toProjectInfo(await this.lifecycle.update(request)),
    project_delete: async (request, context) => {
      await this.lifecycle.remove(context);
      return { project_id: request.project_id, success: true };
    },
    project_join: (request, context) => this.join(request, context),
    project_leave: async (request, { connection }) => {
      connection.detach(membershipKey(request.project_id));
      return {};
    },
  };

  constructor(
    @Inject(PORT.projects) private readonly projects: ProjectStore,
    private readonly lifecycle: ProjectLifecycle,
    private readonly joining: ProjectJoin,
    private readonly waker: ProjectWaker,
  ) {}

  private async join(
    request: ClientRequest<'project_join'>,
    context: ProjectContext,
  ): Promise<ClientData<'project_join'>> {
    const answer = await this.joining.join(request, context);
    // Who may only watch starts nothing.
    if (context.role !== 'viewer') context.afterAck(() => this.waker.wake(context.project));
    return answer;
  }

  private async list(
    { limit = LIMITS.pageDefault, cursor }: ClientRequest<'project_list'>,
    { user }: RequestContext,
  ): Promise<ClientData<'project_list'>> {
    const { items, nextCursor } = await this.projects.list(
      { userId: user.userId, isAdmin: user.isAdmin },
      { limit, ...(cursor === undefined ? {} : { cursor }) },
    );
    return { projects: items.map(toProjectInfo), ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }) };
  }
}
