// HTTP routes to a project's history: pages of it, and all of it as JSON lines.
import { Controller, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { EventStore, ProjectStore } from '#domain';
import { AppError } from '#kernel';
import type { ClientData } from '#protocol';
import { PORT } from '../ports.js';
import { exportLines } from './message-export.js';
import { sendPaced } from './paced-writer.js';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { UseCases } from './use-cases.js';

@Controller()
export class MessagesController {
  constructor(
    private readonly useCases: UseCases,
    @Inject(PORT.events) private readonly events: EventStore,
    @Inject(PORT.projects) private readonly projects: ProjectStore,
  ) {}

  @Route('listMessages')
  list(@Call() call: RestCall): Promise<ClientData<'get_messages'>> {
    return this.useCases.answer('get_messages', call);
  }

  @Route('exportMessages')
  async export(@Call() call: RestCall<'exportMessages'>, @Res() response: Response): Promise<void> {
    const { context, query, request, gone } = call;
    const { project } = context;
    if (project === undefined) throw new AppError('internal.unexpected', 'An export is of no project.');
    response.set({
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': `attachment; filename="${project.projectId}.jsonl"`,
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const range = {
      afterSeq: query.after_seq ?? 0,
      ...(query.session_id === undefined ? {} : { sessionId: query.session_id }),
    };
    await sendPaced(response, exportLines({ events: this.events, projects: this.projects }, project, range), gone);
  }
}
