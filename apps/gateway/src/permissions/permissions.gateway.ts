// Answers to the agent's questions.
import { Inject, Injectable } from '@nestjs/common';
import type { PermissionAnswer, PermissionStore } from '#domain';
import { AppError } from '#kernel';
import type { ClientData, ClientRequest } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { PORT } from '../ports.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';

@Injectable()
export class PermissionsGateway {
  readonly handlers: EventHandlers<'permission_respond'> = {
    permission_respond: (request, context) => this.respond(request, context),
  };

  constructor(
    @Inject(PORT.permissions) private readonly permissions: PermissionStore,
    private readonly announcer: CommitAnnouncer,
  ) {}

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
    if (answer === null || answeredBy === null || closedAt === null) {
      throw new AppError('internal.unexpected', 'An answered question carries no answer.');
    }
    return {
      request_id: record.requestId,
      behavior: answer.behavior,
      answered_by: { user_id: answeredBy.userId, name: answeredBy.name },
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
