// Client events that change conversations.
import { Inject, Injectable } from '@nestjs/common';
import type { SessionStore } from '#domain';
import { type ClientData, type ClientRequest } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { type FeatureSettings, PORT, SETTINGS } from '../ports.js';
import { toSessionInfo } from '../runs/run.wire.js';
import { idempotencyClaim } from '../transport/idempotency-claim.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';

type Events = 'session_create' | 'session_update' | 'session_resume' | 'session_archive' | 'session_compact';

@Injectable()
export class SessionsGateway {
  readonly handlers: EventHandlers<Events> = {
    session_create: (request, context) => this.create(request, context),
    session_update: (request, context) => this.update(request, context),
    session_resume: async ({ session_id: sessionId }) =>
      toSessionInfo(this.announcer.announced(await this.sessions.resume(sessionId))),
    session_archive: async ({ session_id: sessionId }) =>
      toSessionInfo(this.announcer.announced(await this.sessions.archive(sessionId))),
    session_compact: (request, context) => this.compact(request, context),
  };

  constructor(
    @Inject(PORT.sessions) private readonly sessions: SessionStore,
    private readonly announcer: CommitAnnouncer,
    @Inject(SETTINGS) private readonly settings: FeatureSettings,
  ) {}

  private async create(
    request: ClientRequest<'session_create'>,
    { project, user }: ProjectContext,
  ): Promise<ClientData<'session_create'>> {
    const created = await this.sessions.create({
      projectId: project.projectId,
      userId: user.userId,
      ...(request.title === undefined ? {} : { title: request.title }),
      ...(request.model === undefined ? {} : { model: request.model }),
      ...(request.permission_mode === undefined ? {} : { permissionMode: request.permission_mode }),
      ...idempotencyClaim('session_create', user.userId, request),
    });
    return toSessionInfo(this.announcer.announced(created));
  }

  private async update(
    request: ClientRequest<'session_update'>,
    { user }: ProjectContext,
  ): Promise<ClientData<'session_update'>> {
    const { session_id: sessionId, title, model, permission_mode: permissionMode } = request;
    const changes = {
      ...(title === undefined ? {} : { title }),
      ...(model === undefined ? {} : { model }),
      ...(permissionMode === undefined ? {} : { permissionMode }),
    };
    return toSessionInfo(this.announcer.announced(await this.sessions.update(sessionId, user.userId, changes)));
  }

  private async compact(
    request: ClientRequest<'session_compact'>,
    { user, correlationId }: ProjectContext,
  ): Promise<ClientData<'session_compact'>> {
    const queued = await this.sessions.compact(request.session_id, {
      userId: user.userId,
      timeoutMs: this.settings.runTimeoutMs,
      correlationId,
      ...idempotencyClaim('session_compact', user.userId, request),
    });
    const { run, position } = this.announcer.announced(queued);
    return { run_id: run.runId, status: run.status, ...(position === undefined ? {} : { position }) };
  }
}
