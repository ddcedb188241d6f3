// A client that follows a project over every loss of its connection, and notes each event that comes twice, out of order, or not at all.
import type { Socket } from 'socket.io-client';
import { until } from '#testing';
import type { ChaosStack } from './chaos-stack.ts';
import { ask, type Data, type LiveSocket, type LiveSocketOptions } from './live-socket.ts';

export interface SeenEvent {
  seq: number;
  event_id: string;
  type: string;
  run_id?: string;
  payload: Data;
}

interface Joined {
  events: SeenEvent[];
  head_seq: number;
  gap?: { from_seq: number; to_seq: number };
}

export class EventViewer {
  readonly events: SeenEvent[] = [];
  /** What must not happen: a push that is not the next one. */
  readonly faults: string[] = [];
  /** Codes of the notices that came, in order. */
  readonly notices: string[] = [];
  readonly socket: LiveSocket;
  readonly #projectId: string;
  /** Pushes behind the answer to a join, until what the answer holds was taken; none may come before it. */
  #held: 'refuse' | SeenEvent[] | undefined = 'refuse';

  constructor(stack: ChaosStack, name: string, projectId: string, options: Partial<LiveSocketOptions> = {}) {
    this.#projectId = projectId;
    this.socket = stack.socket(`viewer/${name}`, {
      ...options,
      opened: (socket) => this.#join(socket),
      heard: (event, payload) => this.#heard(event, payload),
    });
  }

  get lastSeq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  /** Resolves once the event with this number was seen. */
  async reaches(seq: number, deadlineMs = 30_000): Promise<void> {
    await until(`a viewer has event ${seq} (it has ${this.lastSeq})`, () => this.lastSeq >= seq, deadlineMs);
  }

  /** The first event that matches, once it was seen. */
  when(what: string, matches: (event: SeenEvent) => boolean, deadlineMs = 60_000): Promise<SeenEvent> {
    return until(what, () => this.events.find(matches), deadlineMs);
  }

  async #join(socket: Socket): Promise<void> {
    this.#held = 'refuse';
    const held: SeenEvent[] = [];
    const request = { project_id: this.#projectId, since_seq: this.lastSeq };
    // Pushes behind the answer may come in the same breath: from the answer on they are kept, not only from when this function goes on.
    const {
      events,
      gap,
      head_seq: head,
    } = (await ask(socket, 'project_join', request, () => {
      this.#held = held;
    })) as unknown as Joined;
    if (gap !== undefined) await this.#fetch(socket, gap.to_seq);
    for (const event of events) this.#take(event);
    if (this.lastSeq !== head) this.faults.push(`joined at ${head} with events up to ${this.lastSeq}`);
    for (const event of held) this.#take(event);
    this.#held = undefined;
  }

  async #fetch(socket: Socket, to: number): Promise<void> {
    while (this.lastSeq < to) {
      const page = { project_id: this.#projectId, after_seq: this.lastSeq, limit: 500 };
      const { messages } = (await ask(socket, 'get_messages', page)) as unknown as { messages: SeenEvent[] };
      for (const event of messages) if (event.seq <= to) this.#take(event);
    }
  }

  #heard(event: string, payload: Data): void {
    if (event === 'server_notice') {
      this.notices.push(String(payload['code']));
      if (payload['code'] === 'resync_required') this.socket.cut();
    }
    if (event !== 'event' || payload['project_id'] !== this.#projectId) return;
    const pushed = payload as unknown as SeenEvent;
    if (this.#held === 'refuse') this.faults.push(`event ${pushed.seq} overtook the answer to the join`);
    else if (this.#held === undefined) this.#take(pushed);
    else this.#held.push(pushed);
  }

  #take(event: SeenEvent): void {
    if (event.seq !== this.lastSeq + 1) this.faults.push(`event ${event.seq} after ${this.lastSeq}`);
    this.events.push(event);
  }
}
