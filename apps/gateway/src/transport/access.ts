// The one place that decides who may do what: which project an event is about, and whether the user's role in it suffices (GW-8).
import type { PermissionStore, ProjectRecord, ProjectStore, RunStore, UserRecord } from '#domain';
import { AppError, type Clock, type ErrorCode, ROLES, type Role, systemClock } from '#kernel';
import { CLIENT_EVENTS, type ClientEventName } from '#protocol';

/** Where the project of an event is found, by the field that names it. The first one that a payload has counts. */
export const SCOPE_FIELDS = [
  'project_id',
  'run_id',
  'stream_id',
  'command_session_id',
  'request_id',
  'session_id',
] as const;
type ScopeField = (typeof SCOPE_FIELDS)[number];

const NOT_FOUND: Record<ScopeField, { code: ErrorCode; message: string }> = {
  project_id: { code: 'project.not_found', message: 'There is no such project.' },
  run_id: { code: 'run.not_found', message: 'There is no such run.' },
  stream_id: { code: 'stream.not_found', message: 'There is no such stream.' },
  command_session_id: { code: 'run.not_found', message: 'There is no such command.' },
  request_id: { code: 'permission.not_found', message: 'There is no such question.' },
  session_id: { code: 'session.not_found', message: 'There is no such conversation.' },
};

export const COMMAND_SESSION_PREFIX = 'cmd-';

export interface AccessPorts {
  projects: Pick<ProjectStore, 'find' | 'roleOf'>;
  runs: Pick<RunStore, 'find' | 'findSession'>;
  permissions: Pick<PermissionStore, 'find'>;
}

export interface Grant {
  project: ProjectRecord;
  role: Role;
}

export interface Scope {
  field: ScopeField;
  id: string;
}

const atLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

/** The field by which a payload names what it is about, and its value. Also the key by which requests keep their order. */
export function scopeOf(request: Readonly<Record<string, unknown>>): Scope | undefined {
  for (const field of SCOPE_FIELDS) {
    const id = request[field];
    if (typeof id === 'string') return { field, id };
  }
  return undefined;
}

/** Events by which a client paces a stream, many a second: what was granted is believed for a moment. */
const PACING: ReadonlySet<ClientEventName> = new Set(['stream_ack']);
const BELIEVED_MS = 1000;
const MAX_BELIEVED = 1000;

export class AccessPolicy {
  private readonly believed = new Map<string, { grant: Grant; untilMs: number }>();

  constructor(
    private readonly ports: AccessPorts,
    private readonly clock: Clock = systemClock,
  ) {}

  /**
   * Undefined for events that any user may send. Somebody without a role in the project is told that the thing does not exist; a role
   * that is too low gives `auth.forbidden`.
   */
  async authorize(event: ClientEventName, request: object, user: UserRecord): Promise<Grant | undefined> {
    const needed = CLIENT_EVENTS[event].role;
    if (needed === 'user') return undefined;
    const scope = scopeOf(request as Record<string, unknown>);
    if (scope === undefined) throw new AppError('internal.unexpected', `${event} names no project.`);
    if (!PACING.has(event)) return this.ask(scope, needed, user);
    const key = `${user.userId} ${event} ${scope.id}`;
    const known = this.believed.get(key);
    if (known !== undefined && known.untilMs > this.clock.monotonicMs()) return known.grant;
    const grant = await this.ask(scope, needed, user);
    if (this.believed.size >= MAX_BELIEVED) this.believed.clear();
    this.believed.set(key, { grant, untilMs: this.clock.monotonicMs() + BELIEVED_MS });
    return grant;
  }

  private async ask(scope: Scope, needed: Role, user: UserRecord): Promise<Grant> {
    const missing = NOT_FOUND[scope.field];
    const projectId = await this.projectOf(scope.field, scope.id);
    const project = projectId === undefined ? undefined : await this.ports.projects.find(projectId);
    const role = project === undefined ? undefined : await this.roleIn(project.projectId, user);
    if (project === undefined || role === undefined) throw new AppError(missing.code, missing.message);
    if (!atLeast(role, needed)) {
      throw new AppError('auth.forbidden', `This takes the role ${needed}.`, { details: { role, needed } });
    }
    return { project, role };
  }

  private async roleIn(projectId: string, user: UserRecord): Promise<Role | undefined> {
    return user.isAdmin ? 'owner' : this.ports.projects.roleOf(projectId, user.userId);
  }

  private async projectOf(field: ScopeField, id: string): Promise<string | undefined> {
    switch (field) {
      case 'project_id':
        return id;
      case 'run_id':
      case 'stream_id':
        return (await this.ports.runs.find(id))?.projectId;
      case 'command_session_id':
        return (await this.ports.runs.find(id.slice(COMMAND_SESSION_PREFIX.length)))?.projectId;
      case 'request_id':
        return (await this.ports.permissions.find(id))?.projectId;
      case 'session_id':
        return (await this.ports.runs.findSession(id))?.projectId;
    }
  }
}
