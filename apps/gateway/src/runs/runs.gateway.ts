// Client events about runs: queueing prompts and commands, stopping them, listing them and the conversations they belong to.
import { Inject, Injectable } from '@nestjs/common';
import { type HostStore, isFinal, type NewCommand, type RunRecord, type RunStore } from '#domain';
import { AppError, DEFAULT_LANE, isAppError, newId } from '#kernel';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { type FeatureSettings, PORT, SETTINGS } from '../ports.js';
import { idempotencyClaim } from '../transport/idempotency-claim.js';
import type { EventHandlers, ProjectContext, RequestContext } from '../transport/request-context.js';
import { checkTimeout, mergeOptions } from './run-options.js';
import { commandSessionId, shellCommandOf, toRunInfo, toSessionInfo } from './run.wire.js';
import { workingDirectoryOf } from './working-directory.js';

type Events =
  | 'execute'
  | 'execute_command'
  | 'agent_new_session'
  | 'session_list'
  | 'session_get'
  | 'run_list'
  | 'run_get'
  | 'run_cancel'
  | 'agent_kill';

const BLOCKED = { blocked_by: 'host.unavailable' } as const;

@Injectable()
export class RunsGateway {
  readonly handlers: EventHandlers<Events> = {
    execute: (request, context) => this.execute(request, context),
    execute_command: (request, context) => this.executeCommand(request, context),
    agent_new_session: (_, context) => this.newSession(context),
    session_list: (request, context) => this.listSessions(request, context),
    session_get: (request) => this.session(request.session_id),
    run_list: (request) => this.list(request),
    run_get: (request) => this.one(request.run_id),
    run_cancel: (request, context) => this.cancel(request.run_id, context),
    agent_kill: (request, context) => this.kill(request.project_id, context),
  };

  constructor(
    @Inject(PORT.runs) private readonly runs: RunStore,
    private readonly announcer: CommitAnnouncer,
    @Inject(SETTINGS) private readonly settings: FeatureSettings,
    @Inject(PORT.hosts) private readonly hosts: HostStore,
  ) {}

  private async execute(request: ClientRequest<'execute'>, context: ProjectContext): Promise<ClientData<'execute'>> {
    const { run, position } = this.announcer.announced(
      await this.runs.enqueuePrompt({
        ...newRun(request.lane ?? DEFAULT_LANE, request, context),
        prompt: request.prompt,
        ...(request.session_id === undefined ? {} : { sessionId: request.session_id }),
        ...mergeOptions(context.project.options, request.options, this.settings),
        ...idempotencyClaim('execute', context.user.userId, request),
      }),
    );
    if (run.sessionId === null) throw new AppError('internal.unexpected', 'A prompt belongs to no conversation.');
    return { ...queuedRun(run, position), session_id: run.sessionId };
  }

  private async executeCommand(
    request: ClientRequest<'execute_command'>,
    context: ProjectContext,
  ): Promise<ClientData<'execute_command'>> {
    const { run, position } = this.announcer.announced(
      await this.runs.enqueueCommand({
        ...newRun(request.parallel === true ? ownLane() : DEFAULT_LANE, request, context),
        ...commandLine(request.command),
        workingDir: workingDirectoryOf(request.working_directory),
        ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
        timeoutMs: checkTimeout(request.timeout_ms, 'timeout_ms', this.settings),
        ...idempotencyClaim('execute_command', context.user.userId, request),
      }),
    );
    return {
      ...queuedRun(run, position),
      command_session_id: commandSessionId(run.runId),
      shell_command: shellCommandOf(run),
    };
  }

  private async newSession({ project, user }: ProjectContext): Promise<ClientData<'agent_new_session'>> {
    const reset = await this.runs.resetSession(project.projectId, user.userId);
    const { oldSessionId } = this.announcer.announced(reset);
    return { project_id: project.projectId, old_session_id: oldSessionId ?? '', new_session_id: '' };
  }

  private async listSessions(
    { project_id: projectId, limit = LIMITS.pageDefault, cursor }: ClientRequest<'session_list'>,
    { user }: RequestContext,
  ): Promise<ClientData<'session_list'>> {
    const { items, nextCursor } = await this.runs.listSessions(
      { userId: user.userId, isAdmin: user.isAdmin, ...(projectId === undefined ? {} : { projectId }) },
      { limit, ...(cursor === undefined ? {} : { cursor }) },
    );
    return { sessions: items.map(toSessionInfo), ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }) };
  }

  private async session(sessionId: string): Promise<ClientData<'session_get'>> {
    const session = await this.runs.findSession(sessionId);
    if (session === undefined) throw new AppError('session.not_found', 'There is no such conversation.');
    return toSessionInfo(session);
  }

  private async one(runId: string): Promise<ClientData<'run_get'>> {
    const found = await this.runs.findQueued(runId);
    if (found === undefined) throw new AppError('run.not_found', 'There is no such run.');
    const blocked = !isFinal(found.run.status) && (await this.isHostAway(found.run));
    return { ...toRunInfo(found), ...(blocked ? BLOCKED : {}) };
  }

  private async list(request: ClientRequest<'run_list'>): Promise<ClientData<'run_list'>> {
    const { project_id: projectId, status, limit = LIMITS.pageDefault, cursor } = request;
    const { items, nextCursor } = await this.runs.list(projectId, status === undefined ? {} : { status }, {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const blocked = await this.isHostAway(items[0]?.run);
    const runs = items.map((item) => ({
      ...toRunInfo(item),
      ...(blocked && !isFinal(item.run.status) ? BLOCKED : {}),
    }));
    return { runs, ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }) };
  }

  /** All runs of a project have one host. */
  private async isHostAway(run: RunRecord | undefined): Promise<boolean> {
    return run !== undefined && (await this.hosts.find(run.hostId))?.held === false;
  }

  private async cancel(runId: string, { user }: ProjectContext): Promise<ClientData<'run_cancel'>> {
    return toRunInfo({ run: this.announcer.announced(await this.runs.cancel(runId, user.userId)) });
  }

  private async kill(projectId: string, context: ProjectContext): Promise<ClientData<'agent_kill'>> {
    const active = await this.runs.activeOf(projectId, DEFAULT_LANE);
    if (active === undefined || active.kind === 'command') throw noneActive();
    try {
      return await this.cancel(active.runId, context);
    } catch (error) {
      // It ended between the two: then there is nothing left to kill.
      if (isAppError(error) && error.code === 'run.already_finished') throw noneActive();
      throw error;
    }
  }
}

const noneActive = (): AppError => new AppError('run.none_active', 'No agent of this project is at work.');

const newRun = (
  lane: string,
  { priority, if_busy: ifBusy }: Pick<ClientRequest<'execute'>, 'priority' | 'if_busy'>,
  { project, user, correlationId }: ProjectContext,
) => ({
  projectId: project.projectId,
  userId: user.userId,
  lane,
  correlationId,
  ...(priority === undefined ? {} : { priority }),
  ...(ifBusy === 'reject' ? { rejectIfBusy: true } : {}),
});

const queuedRun = (run: RunRecord, position: number | undefined) => ({
  run_id: run.runId,
  status: run.status,
  ...(position === undefined ? {} : { position }),
});

/** A lane that nothing else is in, so that a parallel command starts at once. The last group of a UUIDv7 is random. */
const ownLane = (): string => `cmd-${newId().slice(-12)}`;

/** A string is run by `sh -c`; an array is the program and its arguments as they are. */
function commandLine(command: string | string[]): Pick<NewCommand, 'argv' | 'shellCommand'> {
  if (typeof command === 'string') {
    if (command.trim() === '') throw new AppError('command.invalid', 'The command is empty.');
    return { argv: [], shellCommand: command };
  }
  if (command[0] === '') throw new AppError('command.invalid', 'The program has no name.');
  return { argv: command, shellCommand: null };
}
