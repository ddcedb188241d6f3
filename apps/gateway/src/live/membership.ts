// One client's subscription to one project: buffers while it joins, then passes on what follows (R16, R17).
import type { Announcement, DeltaFrame, EventRecord, LiveFrame, QueueSnapshotRecord } from '#domain';
import type { Delta, EventInfo } from '#protocol';
import { toQueueSnapshot } from '../runs/run.wire.js';
import type { Attachment, ClientConnection } from '../transport/client-connection.js';
import { DeliveryCursor } from './delivery-cursor.js';
import { toDelta, toEventInfo } from './live.wire.js';

/** What a feed tells its members, and what it needs to know of them. */
export interface FeedMember {
  /** Undefined while it joins: it takes what comes into its buffer. */
  readonly position: number | undefined;
  /** Takes events now. A client that does not read as fast as we send takes none until it has caught up. */
  readonly ready: boolean;
  frame(frame: LiveFrame): void;
  events(batch: readonly EventRecord[]): void;
  queue(queue: QueueSnapshotRecord): void;
  /** The feed cannot give it what follows: it must join again. */
  mustResync(): void;
}

/** Frames kept while a client joins; beyond that its feed fetches what is missing. */
const MAX_BUFFERED = 256;

export interface MembershipFeed {
  add(member: FeedMember): void;
  remove(member: FeedMember): void;
  /** Something may be missing between a member's position and the head. */
  catchUp(): void;
}

const KEY = 'project:';
export const membershipKey = (projectId: string): string => `${KEY}${projectId}`;
export const countMemberships = (connection: ClientConnection): number => connection.count(KEY);

export class Membership implements FeedMember, Attachment {
  private cursor: DeliveryCursor | undefined;
  private buffered: LiveFrame[] = [];
  private queueRevision = -1;
  private closed = false;
  /** Events were left to the feed because the client was behind in reading. */
  private held = false;
  private readonly stopListening: () => void;

  constructor(
    private readonly projectId: string,
    private readonly connection: ClientConnection,
    private readonly lease: { feed: MembershipFeed; release(): void },
  ) {
    this.stopListening = connection.outbox.onDrain(() => {
      if (!this.held || connection.outbox.congested) return;
      this.held = false;
      lease.feed.catchUp();
    });
    lease.feed.add(this);
    connection.attach(membershipKey(projectId), this);
  }

  get position(): number | undefined {
    return this.cursor?.position;
  }

  get ready(): boolean {
    return this.cursor !== undefined && !this.held;
  }

  frame(frame: LiveFrame): void {
    if (this.cursor === undefined) {
      if (this.buffered.length < MAX_BUFFERED) this.buffered.push(frame);
      return;
    }
    if (frame.kind === 'announcement') this.announcement(frame.announcement);
    else if (frame.kind === 'delta') this.delta(frame.delta);
  }

  events(batch: readonly EventRecord[]): void {
    if (this.cursor === undefined) return;
    this.held ||= this.connection.outbox.congested;
    if (this.held) return;
    for (const event of this.cursor.take(batch)) {
      this.connection.outbox.push('event', this.limited(event));
      if (event.type === 'project.deleted') this.leave();
    }
  }

  queue(queue: QueueSnapshotRecord): void {
    if (this.cursor === undefined || queue.revision <= this.queueRevision) return;
    this.queueRevision = queue.revision;
    this.connection.outbox.push('queue_changed', toQueueSnapshot(queue));
  }

  mustResync(): void {
    this.connection.outbox.push('server_notice', {
      code: 'resync_required',
      message: 'This client fell too far behind; join the project again.',
      project_id: this.projectId,
    });
    this.leave();
  }

  /** The answer of the join is on its way: pushes start with the event after `headSeq`. */
  goLive(headSeq: number, queueRevision: number): void {
    if (this.closed) return;
    this.cursor = new DeliveryCursor(headSeq);
    this.queueRevision = queueRevision;
    const frames = this.buffered;
    this.buffered = [];
    for (const frame of frames) this.frame(frame);
    this.lease.feed.catchUp();
  }

  /** Ends the subscription, unless another one has taken its place. */
  leave(): void {
    this.connection.detach(membershipKey(this.projectId), this);
  }

  close(): void {
    this.closed = true;
    this.stopListening();
    this.lease.feed.remove(this);
    this.lease.release();
  }

  private announcement({ events, queue }: Announcement): void {
    this.events(events);
    if (queue !== undefined) this.queue(queue);
  }

  private delta(frame: DeltaFrame): void {
    const delta: Delta = toDelta(frame);
    this.connection.outbox.pushDelta(delta);
  }

  private limited(event: EventRecord): EventInfo {
    return toEventInfo(event, this.connection.maxMessageBytes);
  }
}
