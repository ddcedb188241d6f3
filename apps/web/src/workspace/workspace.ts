// What one signed-in page consists of: the connection, the list of projects, and the projects and outputs it has opened.
import type { AckData } from '../connection/wire.js';
import { callOnce } from '../connection/call-once.js';
import { SocketConnection } from '../connection/connection.js';
import { OutputStream } from '../commands/output-stream.js';
import { t } from '../text/index.js';
import { Notices } from './notices.js';
import { ProjectList } from './project-list.js';
import { ProjectSession } from './project-session.js';

/** Outputs kept in memory so that opening them again shows them at once. */
const OUTPUTS_KEPT = 20;
/** Types of events after which the list of projects says something else. */
const TELLING = new Set<string>([
  'project.state',
  'project.updated',
  'project.deleted',
  'message.user',
  'message.result',
]);
const REFRESH_EVERY_MS = 10_000;

export class Workspace {
  readonly notices = new Notices();
  readonly connection: SocketConnection;
  readonly projects: ProjectList;
  private readonly sessions = new Map<string, ProjectSession>();
  private readonly outputs = new Map<string, OutputStream>();
  private stops: (() => void)[] = [];

  constructor(url: string, token: string) {
    this.connection = new SocketConnection(url, token, () => this.notices.tell(t.connection.unreadable));
    this.projects = new ProjectList(this.connection);
  }

  open(): void {
    const wake = (): void => {
      if (document.visibilityState === 'visible') void this.connection.check();
    };
    document.addEventListener('visibilitychange', wake);
    window.addEventListener('online', wake);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.projects.refresh();
    }, REFRESH_EVERY_MS);
    this.stops = [
      () => document.removeEventListener('visibilitychange', wake),
      () => window.removeEventListener('online', wake),
      () => clearInterval(timer),
      () => this.projects.stop(),
      this.connection.on('event', ({ type }) => {
        if (TELLING.has(type)) this.projects.refreshSoon();
      }),
      this.connection.on('server_notice', ({ code, message }) => {
        if (code !== 'resync_required') this.notices.tell(message); // the session of that project sees to it
      }),
    ];
    this.connection.open();
  }

  close(): void {
    for (const stop of this.stops) stop();
    this.connection.close();
  }

  /** The session of a project; kept, so that returning to a project shows it at once. */
  session(projectId: string): ProjectSession {
    const held = this.sessions.get(projectId) ?? new ProjectSession(this.connection, projectId);
    this.sessions.set(projectId, held);
    return held;
  }

  /** The output of a command, from an offset on when it is opened for the first time. */
  output(runId: string, fromOffset: number): OutputStream {
    const held = this.outputs.get(runId) ?? new OutputStream(this.connection, runId, fromOffset);
    this.outputs.delete(runId);
    this.outputs.set(runId, held); // last used last
    for (const [id, stream] of this.outputs) {
      if (this.outputs.size <= OUTPUTS_KEPT) break;
      if (!stream.isFollowed) this.outputs.delete(id);
    }
    return held;
  }

  // What a person can do. Each throws a ProblemError.

  async sendPrompt(projectId: string, prompt: string): Promise<AckData<'execute'>> {
    return callOnce(this.connection, 'execute', { project_id: projectId, prompt });
  }

  async runCommand(projectId: string, command: string, parallel: boolean): Promise<AckData<'execute_command'>> {
    const beside = parallel ? { parallel } : {};
    return callOnce(this.connection, 'execute_command', { project_id: projectId, command, ...beside });
  }

  async cancelRun(runId: string): Promise<void> {
    await this.connection.call('run_cancel', { run_id: runId });
  }

  async newConversation(projectId: string): Promise<void> {
    await this.connection.call('agent_new_session', { project_id: projectId });
  }

  /** A question with its whole input. */
  async wholePermission(requestId: string): Promise<AckData<'permission_get'>> {
    return this.connection.call('permission_get', { request_id: requestId });
  }

  async answerPermission(answer: {
    request_id: string;
    input_hash: string;
    behavior: 'allow' | 'deny';
    message?: string;
  }): Promise<AckData<'permission_respond'>> {
    return this.connection.call('permission_respond', answer);
  }
}
