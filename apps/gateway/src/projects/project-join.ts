// Joining a project: subscribe and buffer, read, acknowledge, flush what is above (R16).
import type { DeltaFrame, EventRange, EventStore, LiveBus, PermissionStore, ProjectRecord, RunStore } from '#domain';
import type { ProjectStore } from '#domain';
import { AppError } from '#kernel';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import type { FeedHub } from '../live/feed-hub.js';
import { toDelta, toEventInfo } from '../live/live.wire.js';
import { countMemberships, Membership, membershipKey } from '../live/membership.js';
import { limitPermission, toPermissionInfo } from '../permissions/permission.wire.js';
import { toQueueSnapshot } from '../runs/run.wire.js';
import type { ProjectContext } from '../transport/request-context.js';
import { toProjectInfo } from './project.wire.js';

export interface ProjectJoinPorts {
  projects: Pick<ProjectStore, 'find'>;
  events: Pick<EventStore, 'newest' | 'seqOf' | 'cursorOf'>;
  runs: Pick<RunStore, 'queue'>;
  permissions: Pick<PermissionStore, 'openOf'>;
  bus: Pick<LiveBus, 'partials'>;
}

/** How long a join waits for the bus. Without it pushes come by the feed's timer, so a join does not fail for it. */
const SUBSCRIBE_WAIT_MS = 1000;
const MAX_JOINED = 200;

type Request = ClientRequest<'project_join'>;
type Answer = ClientData<'project_join'>;

export class ProjectJoin {
  constructor(
    private readonly hub: Pick<FeedHub, 'acquire'>,
    private readonly ports: ProjectJoinPorts,
    private readonly report: (error: unknown, context: Record<string, unknown>) => void,
  ) {}

  async join(request: Request, context: ProjectContext): Promise<Answer> {
    const { connection } = context;
    const projectId = request.project_id;
    const joined = connection.attachment(membershipKey(projectId)) !== undefined;
    if (!joined && countMemberships(connection) >= MAX_JOINED) {
      throw new AppError('connection.limit_reached', 'This connection has joined too many projects.', {
        details: { max_joined: MAX_JOINED },
      });
    }
    const lease = this.hub.acquire(projectId);
    const membership = new Membership(projectId, connection, lease);
    try {
      await waitAtMost(lease.standing, SUBSCRIBE_WAIT_MS);
      const answer = await this.read(request, context);
      context.afterAck(() => membership.goLive(answer.head_seq, answer.queue.revision));
      return answer;
    } catch (error) {
      membership.leave();
      throw error;
    }
  }

  private async read(request: Request, context: ProjectContext): Promise<Answer> {
    const { projects, permissions, runs } = this.ports;
    const projectId = request.project_id;
    const { maxMessageBytes } = context.connection;
    // Read again: what was committed before the subscription stood must be at or below this head.
    const project = await projects.find(projectId);
    if (project === undefined) throw new AppError('project.not_found', 'There is no such project.');
    const since = await this.sinceOf(request, context, project);
    const [range, live, open, queue] = await Promise.all([
      this.eventsOf(project, since, maxMessageBytes),
      this.partialsOf(projectId),
      permissions.openOf(projectId),
      runs.queue(projectId),
    ]);
    const oldest = range.events[0]?.seq ?? 0;
    const gap = since !== undefined && range.truncated ? { from_seq: since + 1, to_seq: oldest - 1 } : undefined;
    return {
      project: toProjectInfo(project),
      events: range.events.map((event) => toEventInfo(event, maxMessageBytes)),
      ...(gap === undefined ? {} : { gap }),
      oldest_seq: oldest,
      newest_seq: range.events.at(-1)?.seq ?? 0,
      head_seq: project.headSeq,
      total_count: project.eventCount,
      is_complete: !range.truncated,
      live: live.map(toDelta),
      permissions: open.map((question) => limitPermission(toPermissionInfo(question), maxMessageBytes)),
      queue: toQueueSnapshot(queue),
    };
  }

  /** After which event the client wants to go on; undefined for the newest ones. */
  private async sinceOf(
    { project_id: projectId, since_seq: seq, last_message_id: eventId }: Request,
    { connection, user }: ProjectContext,
    { headSeq }: ProjectRecord,
  ): Promise<number | undefined> {
    // A client that has more than there is has another history: it starts afresh.
    const known = (since: number | undefined) => (since === undefined || since > headSeq ? undefined : since);
    if (seq !== undefined) return known(seq);
    if (eventId !== undefined) {
      const found = await this.ports.events.seqOf(projectId, eventId);
      if (found === undefined) throw new AppError('message.not_found', 'There is no such message in this project.');
      return known(found);
    }
    if (connection.clientId === undefined) return undefined;
    return known(await this.ports.events.cursorOf(user.userId, connection.clientId, projectId));
  }

  private eventsOf(project: ProjectRecord, since: number | undefined, maxMessageBytes: number): Promise<EventRange> {
    return this.ports.events.newest(project.projectId, {
      limit: since === undefined ? LIMITS.joinNewest : LIMITS.joinEvents,
      maxBytes: Math.min(LIMITS.joinBytes, maxMessageBytes),
      ...(since === undefined ? {} : { afterSeq: since }),
      beforeSeq: project.headSeq + 1,
    });
  }

  /** Text that is being written is a courtesy: its message comes as an event in any case. */
  private async partialsOf(projectId: string): Promise<DeltaFrame[]> {
    try {
      return await this.ports.bus.partials(projectId);
    } catch (error) {
      this.report(error, { operation: 'live.partials', project_id: projectId });
      return [];
    }
  }
}

/** Whether the promise resolves or not: after `ms` we go on. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, enough]);
  clearTimeout(timer);
}
