// Client events about what was: messages, read marks, commands and their output.
import { Inject, Injectable } from '@nestjs/common';
import type { EventRange, EventStore, OutputStore, RunStore } from '#domain';
import { AppError } from '#kernel';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import { toEventInfo } from '../live/live.wire.js';
import { PORT } from '../ports.js';
import { workingDirectoryOf } from '../runs/working-directory.js';
import { COMMAND_SESSION_PREFIX } from '../transport/access.js';
import { invalidPayload } from '../transport/payload.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';
import { readCommandOutput, toCommandSession } from './command-output.js';
import { readMessage } from './message-text.js';

type Events = 'get_messages' | 'message_get' | 'message_ack' | 'get_command_history' | 'get_command_output';
type MessageQuery = ClientRequest<'get_messages'>;

@Injectable()
export class HistoryGateway {
  readonly handlers: EventHandlers<Events> = {
    get_messages: (request, context) => this.messages(request, context),
    message_get: (request, { connection }) =>
      readMessage(
        this.events,
        request,
        Math.min(request.max_bytes ?? LIMITS.messageReadBytes.default, connection.maxMessageBytes),
      ),
    message_ack: (request, context) => this.acknowledge(request, context),
    get_command_history: (request) => this.commands(request),
    get_command_output: (request, context) => this.output(request, context),
  };

  constructor(
    @Inject(PORT.events) private readonly events: EventStore,
    @Inject(PORT.runs) private readonly runs: RunStore,
    @Inject(PORT.outputs) private readonly outputs: OutputStore,
  ) {}

  private async messages(request: MessageQuery, context: ProjectContext): Promise<ClientData<'get_messages'>> {
    const { maxMessageBytes } = context.connection;
    const { events, truncated } = await this.page(request, Math.min(LIMITS.joinBytes, maxMessageBytes));
    return {
      messages: events.map((event) => toEventInfo(event, maxMessageBytes)),
      oldest_seq: events[0]?.seq ?? 0,
      newest_seq: events.at(-1)?.seq ?? 0,
      total_count: context.project.eventCount,
      is_complete: !truncated,
    };
  }

  /** By time or after a seq the oldest come first; otherwise the newest are kept, in ascending order all the same. */
  private page(request: MessageQuery, maxBytes: number): Promise<EventRange> {
    const { project_id: projectId, session_id, after_seq, before_seq, since, limit = LIMITS.pageDefault } = request;
    const filter = {
      ...(after_seq === undefined ? {} : { afterSeq: after_seq }),
      ...(before_seq === undefined ? {} : { beforeSeq: before_seq }),
      ...(session_id === undefined ? {} : { sessionId: session_id }),
    };
    if (since !== undefined) return this.events.since(projectId, storedSince(since), { limit, maxBytes, ...filter });
    if (after_seq === undefined || before_seq !== undefined) {
      return this.events.newest(projectId, { limit, maxBytes, ...filter });
    }
    if (session_id !== undefined) return this.events.ofSession(projectId, session_id, after_seq, { limit, maxBytes });
    return this.events.after(projectId, after_seq, { limit, maxBytes });
  }

  private async acknowledge(
    { project_id: projectId, seq }: ClientRequest<'message_ack'>,
    { connection, project, user }: ProjectContext,
  ): Promise<ClientData<'message_ack'>> {
    if (connection.clientId === undefined) {
      throw invalidPayload([{ path: 'auth.client_id', message: 'is needed in the handshake to remember a read mark' }]);
    }
    if (seq > project.headSeq) {
      throw invalidPayload([{ path: 'seq', message: `must not exceed ${project.headSeq}, the newest event` }]);
    }
    await this.events.saveCursor(user.userId, connection.clientId, projectId, seq);
    return {};
  }

  private async commands(request: ClientRequest<'get_command_history'>): Promise<ClientData<'get_command_history'>> {
    const workingDir = workingDirectoryOf(request.working_directory);
    const entries = await this.runs.commandHistory(request.project_id, {
      limit: request.limit ?? LIMITS.pageDefault,
      previewChars: LIMITS.outputPreviewChars,
      ...(workingDir === null ? {} : { workingDir }),
    });
    return { sessions: entries.map(({ run, preview }) => toCommandSession(run, preview)) };
  }

  private async output(
    request: ClientRequest<'get_command_output'>,
    { connection }: ProjectContext,
  ): Promise<ClientData<'get_command_output'>> {
    const run = await this.runs.find(request.command_session_id.slice(COMMAND_SESSION_PREFIX.length));
    if (run === undefined) throw new AppError('run.not_found', 'There is no such command.');
    return readCommandOutput(this.outputs, run, {
      fromOffset: request.from_offset ?? 0,
      maxBytes: Math.min(request.max_bytes ?? LIMITS.outputReadBytes.default, connection.maxMessageBytes),
    });
  }
}

/** Nothing is older than 1970, and Postgres does not know every year that the wire can say. */
const storedSince = (time: string): Date => new Date(Math.max(0, Date.parse(time)));
