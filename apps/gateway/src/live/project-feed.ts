// What happens in one project, for all clients of this gateway that watch it: frames of the bus, and the store where frames are missing (R16).
import type { EventStore, LiveFrame, ProjectHeads, RunStore } from '#domain';
import { EpochFilter } from './epoch-filter.js';
import type { FeedMember, MembershipFeed } from './membership.js';

export interface FeedStores {
  events: Pick<EventStore, 'after'>;
  runs: Pick<RunStore, 'queue'>;
}

/** One read of the store; also how far behind a client may be before it has to join again. */
const PAGE = { limit: 500, maxBytes: 1024 * 1024 } as const;
const TOO_FAR_BEHIND = 1000;

export class ProjectFeed implements MembershipFeed {
  private readonly members = new Set<FeedMember>();
  private readonly outputListeners = new Map<string, Set<() => void>>();
  private readonly epochs = new EpochFilter();
  /** Newest sequence number heard of. */
  private head = 0;
  /** Newest revision of the queue that was passed on. */
  private queueRevision = 0;
  private catching: Promise<void> | undefined;

  constructor(
    readonly projectId: string,
    private readonly stores: FeedStores,
    private readonly report: (error: unknown, projectId: string) => void,
  ) {}

  add(member: FeedMember): void {
    this.members.add(member);
  }

  remove(member: FeedMember): void {
    this.members.delete(member);
  }

  /** Output of a run was committed, or may have been. */
  onOutput(runId: string, listener: () => void): () => void {
    const listeners = this.outputListeners.get(runId) ?? new Set();
    this.outputListeners.set(runId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.outputListeners.delete(runId);
    };
  }

  frame(frame: LiveFrame): void {
    if (frame.kind === 'output') return this.wakeOutput(frame.output.runId);
    if (frame.kind === 'delta' && !this.epochs.admits(frame.delta)) return;
    for (const member of [...this.members]) member.frame(frame);
    if (frame.kind !== 'announcement') return;
    const { events, headSeq, queue } = frame.announcement;
    this.queueRevision = Math.max(this.queueRevision, queue?.revision ?? 0);
    this.heardOf(Math.max(headSeq ?? 0, ...events.map(({ seq }) => seq)));
  }

  /** `headSeq` comes from the store or a frame; whoever has less is given the rest. */
  heardOf(headSeq: number): void {
    this.head = Math.max(this.head, headSeq);
    this.catchUp();
  }

  /** A word may have been lost (reconnection, timer): streams look for themselves, and a queue that has changed is told again. */
  async refresh({ headSeq, queueRevision }: ProjectHeads): Promise<void> {
    for (const runId of [...this.outputListeners.keys()]) this.wakeOutput(runId);
    this.heardOf(headSeq);
    if (queueRevision > this.queueRevision) await this.refreshQueue();
  }

  /** The project is not in the store any more. */
  gone(): void {
    for (const runId of [...this.outputListeners.keys()]) this.wakeOutput(runId);
    for (const member of [...this.members]) if (member.position !== undefined) member.mustResync();
  }

  catchUp(): void {
    if (this.catching !== undefined || this.behind().length === 0) return;
    this.catching = this.readMissing().then((again) => {
      this.catching = undefined;
      if (again) this.catchUp();
    });
  }

  /** Resolves when nothing is being read; for tests and shutdown. */
  async settled(): Promise<void> {
    while (this.catching !== undefined) await this.catching;
  }

  private wakeOutput(runId: string): void {
    for (const listener of this.outputListeners.get(runId) ?? []) listener();
  }

  private behind(): { member: FeedMember; position: number }[] {
    return [...this.members].flatMap((member) => {
      const { position, ready } = member;
      return ready && position !== undefined && position < this.head ? [{ member, position }] : [];
    });
  }

  /** False after a failure: the next frame or the timer tries again. */
  private async readMissing(): Promise<boolean> {
    try {
      for (let behind = this.behind(); behind.length > 0; behind = this.behind()) {
        const tooFar = behind.filter(({ position }) => this.head - position > TOO_FAR_BEHIND);
        for (const { member } of tooFar) member.mustResync();
        if (tooFar.length === 0) await this.readFrom(Math.min(...behind.map(({ position }) => position)));
      }
      return true;
    } catch (error) {
      this.report(error, this.projectId);
      return false;
    }
  }

  private async readFrom(from: number): Promise<void> {
    const expected = this.head;
    const { events } = await this.stores.events.after(this.projectId, from, PAGE);
    const first = events[0];
    const last = events.at(-1);
    if (first === undefined || last === undefined) {
      // The store is the truth: there is nothing after `from`, unless somebody told of more while it was asked.
      if (this.head === expected) this.head = from;
      return;
    }
    this.head = Math.max(this.head, last.seq);
    for (const member of [...this.members]) {
      const { position } = member;
      // What the store does not have between a position and its answer is gone for good.
      if (position !== undefined && position >= from && position + 1 < first.seq) member.mustResync();
      else member.events(events);
    }
  }

  private async refreshQueue(): Promise<void> {
    try {
      const queue = await this.stores.runs.queue(this.projectId);
      this.queueRevision = Math.max(this.queueRevision, queue.revision);
      for (const member of [...this.members]) member.queue(queue);
    } catch (error) {
      this.report(error, this.projectId);
    }
  }
}
