// Follows the output of one command: subscribes, says how far it has read, and goes on at its own offset after a lost connection.
import { LIMITS } from '#protocol';
import type { Connection } from '../connection/connection.js';
import { type Problem, problemOf } from '../state/problem.js';
import { createStore, type ReadableStore, type Store } from '../state/store.js';
import {
  addChunk,
  type Chunk,
  emptyOutput,
  endOutput,
  type OutputView,
  skipTo,
  type StreamEnd,
} from './output-view.js';

export interface FollowedOutput {
  readonly view: OutputView;
  readonly problem: Problem | undefined;
}

type Action =
  | { type: 'read'; chunks: readonly Chunk[]; end: StreamEnd | undefined }
  | { type: 'skipped'; toOffset: number }
  | { type: 'restarted'; fromOffset: number }
  | { type: 'problem'; problem: Problem | undefined };

const WINDOW_BYTES = LIMITS.streamWindowBytes.default;
const ACK_EVERY_BYTES = WINDOW_BYTES / 4;
/** Chunks are put together this long before the page shows them, ms. */
const FLUSH_MS = 40;

function reducer(state: FollowedOutput, action: Action): FollowedOutput {
  switch (action.type) {
    case 'read': {
      const view = action.chunks.reduce(addChunk, state.view);
      return { ...state, view: action.end === undefined ? view : endOutput(view, action.end) };
    }
    case 'skipped':
      return { ...state, view: skipTo(state.view, action.toOffset) };
    case 'restarted':
      return { view: emptyOutput(action.fromOffset), problem: undefined };
    case 'problem':
      return { ...state, problem: action.problem };
  }
}

export class OutputStream {
  private readonly store: Store<FollowedOutput, Action>;
  private chunks: Chunk[] = [];
  private end: StreamEnd | undefined;
  /** Where the next chunk must begin; ahead of the view by what waits in `chunks`. */
  private expected: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private subscribing = false;
  private followers = 0;
  private acked = 0;
  /** Where a hole was asked for a second time: if it is still there, the server does not keep those bytes. */
  private askedAgainAt: number | undefined;
  private stops: (() => void)[] = [];

  constructor(
    private readonly connection: Connection,
    readonly streamId: string,
    fromOffset: number,
  ) {
    this.expected = fromOffset;
    const initial = { view: emptyOutput(fromOffset), problem: undefined };
    this.store = createStore<FollowedOutput, Action>(reducer, initial);
  }

  get state(): ReadableStore<FollowedOutput> {
    return this.store;
  }

  get isFollowed(): boolean {
    return this.followers > 0;
  }

  /** Follows the stream until the result is called; several followers share one subscription. */
  follow(): () => void {
    this.followers += 1;
    if (this.followers === 1) this.begin();
    let following = true;
    return () => {
      if (!following) return;
      following = false;
      this.followers -= 1;
      if (this.followers === 0) void this.leave();
    };
  }

  /** Forgets what was read and begins at another offset. */
  async restart(fromOffset: number): Promise<void> {
    this.chunks = [];
    this.end = undefined;
    this.expected = fromOffset;
    this.askedAgainAt = undefined;
    this.store.dispatch({ type: 'restarted', fromOffset });
    await this.subscribe();
  }

  private begin(): void {
    const { connection, streamId } = this;
    this.stops = [
      connection.on('stream_data', ({ stream_id: id, offset, channel, data }) => {
        if (id === streamId) this.take({ offset, channel, bytes: toBytes(data) });
      }),
      connection.on('stream_gap', ({ stream_id: id, from_offset: from, to_offset: to }) => {
        if (id === streamId) this.takeGap(from, to);
      }),
      connection.on('stream_end', ({ stream_id: id, end_offset: offset, exit_code: exitCode, reason }) => {
        if (id === streamId) this.takeEnd(offset, { exitCode, reason });
      }),
      connection.state.subscribe(() => void this.subscribe()),
    ];
    void this.subscribe();
  }

  /** Never rejects: a lost connection subscribes again by itself, anything else is shown. */
  private async subscribe(): Promise<void> {
    if (this.subscribing || this.isOver() || this.followers === 0) return;
    if (this.connection.state.get().status !== 'connected') return;
    this.subscribing = true;
    try {
      this.flush();
      const fromOffset = this.store.get().view.nextOffset;
      this.acked = fromOffset;
      const request = { stream_id: this.streamId, from_offset: fromOffset, window_bytes: WINDOW_BYTES };
      const { start_offset: start, truncated } = await this.connection.call('stream_subscribe', request);
      if (start > fromOffset) this.skip(start);
      if (truncated) this.askedAgainAt = this.expected; // the next bytes are not kept: no use in asking again
      this.store.dispatch({ type: 'problem', problem: undefined });
    } catch (error) {
      const problem = problemOf(error);
      const comesBack = problem.code === 'client.connection_lost' || problem.code === 'client.offline';
      if (!comesBack) this.store.dispatch({ type: 'problem', problem });
    } finally {
      this.subscribing = false;
    }
  }

  private async leave(): Promise<void> {
    for (const stop of this.stops) stop();
    this.stops = [];
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flush();
    if (this.isOver() || this.connection.state.get().status !== 'connected') return;
    // The answer does not matter: a stream that ended meanwhile has no subscription left.
    await this.connection.call('stream_unsubscribe', { stream_id: this.streamId }).catch(problemOf);
  }

  private take(chunk: Chunk): void {
    if (this.leavesHole(chunk.offset)) return;
    this.chunks.push(chunk);
    this.expected = Math.max(this.expected, chunk.offset + chunk.bytes.length);
    this.schedule();
  }

  /** The server does not keep these bytes: no use in asking for them. */
  private takeGap(fromOffset: number, toOffset: number): void {
    if (this.leavesHole(fromOffset)) return;
    this.flush();
    this.skip(toOffset);
  }

  private takeEnd(offset: number, end: StreamEnd): void {
    if (this.leavesHole(offset)) return;
    this.end = end;
    this.schedule();
  }

  /**
   * Whether bytes before this offset are missing and may still come. They are asked for once; a second time they are what the
   * server does not keep. While a subscription is asked for, what comes out of turn belongs to the one before.
   */
  private leavesHole(offset: number): boolean {
    if (offset <= this.expected) return false;
    if (this.subscribing) return true;
    if (this.askedAgainAt === this.expected) return false;
    this.askedAgainAt = this.expected;
    void this.subscribe();
    return true;
  }

  private skip(toOffset: number): void {
    this.expected = Math.max(this.expected, toOffset);
    this.store.dispatch({ type: 'skipped', toOffset });
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
      this.acknowledge();
    }, FLUSH_MS);
  }

  private flush(): void {
    const { chunks, end } = this;
    this.chunks = [];
    const ended = end !== undefined && this.store.get().view.end === undefined;
    if (chunks.length > 0 || ended) this.store.dispatch({ type: 'read', chunks, end });
  }

  private acknowledge(): void {
    const { nextOffset } = this.store.get().view;
    if (nextOffset - this.acked < ACK_EVERY_BYTES || this.isOver()) return;
    this.acked = nextOffset;
    const request = { stream_id: this.streamId, acked_offset: nextOffset };
    this.connection.call('stream_ack', request).catch((error: unknown) => {
      const problem = problemOf(error);
      // Without the acknowledgement the stream would stand still, so it is asked for anew.
      if (problem.code !== 'client.connection_lost' && problem.code !== 'client.offline') void this.subscribe();
    });
  }

  private isOver(): boolean {
    return this.end !== undefined || this.store.get().view.end !== undefined;
  }
}

function toBytes(data: Uint8Array | ArrayBuffer): Uint8Array {
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
