// The agent's questions: reading them whole, and answering them.
import { Inject, Injectable } from '@nestjs/common';
import type { PermissionAnswer, PermissionStore } from '#domain';
import { AppError } from '#kernel';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { PORT } from '../ports.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';
import { jsonBytes } from '../transport/text-limit.js';
import { toPermissionInfo } from './permission.wire.js';

@Injectable()
export class PermissionsGateway {
  readonly handlers: EventHandlers<'permission_get' | 'permission_respond'> = {
    permission_get: ({ request_id: requestId }) => this.whole(requestId),
    permission_respond: (request, context) => this.respond(request, context),
  };

  constructor(
    @Inject(PORT.permissions) private readonly permissions: PermissionStore,
    private readonly announcer: CommitAnnouncer,
  ) {}

  private async whole(requestId: string): Promise<ClientData<'permission_get'>> {
    const record = await this.permissions.find(requestId);
    if (record === undefined) throw new AppError('permission.not_found', 'There is no such question.');
    const info = toPermissionInfo(record);
    const bytes = jsonBytes(info);
    if (bytes > LIMITS.permissionBytes) {
      throw new AppError(
        'request.too_large',
        'The input of this tool is too large to be shown, so nobody can approve it.',
        {
          details: { bytes, permission_bytes: LIMITS.permissionBytes },
        },
      );
    }
    return info;
  }

  private async respond(
    request: ClientRequest<'permission_respond'>,
    { user }: ProjectContext,
  ): Promise<ClientData<'permission_respond'>> {
    const { record, first } = this.announcer.announced(
      await this.permissions.answer(request.request_id, {
        ...answerOf(request),
        inputHash: request.input_hash,
        userId: user.userId,
      }),
    );
    const { answer, answeredBy, closedAt } = record;
    if (answer === null || closedAt === null) {
      throw new AppError('internal.unexpected', 'An answered question carries no answer.');
    }
    return {
      request_id: record.requestId,
      behavior: answer.behavior,
      ...(answeredBy === null ? {} : { answered_by: { user_id: answeredBy.userId, name: answeredBy.name } }),
      // Rows of older versions do not say: then it was a person.
      answered_via: record.answeredVia ?? 'person',
      answered_at: closedAt.toISOString(),
      first,
    };
  }
}

const answerOf = (request: ClientRequest<'permission_respond'>): PermissionAnswer => ({
  behavior: request.behavior,
  ...(request.updated_input === undefined ? {} : { updatedInput: request.updated_input }),
  ...(request.message === undefined ? {} : { message: request.message }),
  ...(request.suggestions === undefined ? {} : { suggestions: request.suggestions }),
});
