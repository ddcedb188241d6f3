// One client's view of a command's output: bytes by offset, at most a window ahead of what the client has read (R17).
import type { OutputChunkRecord, OutputCut, OutputHead, OutputStore } from '#domain';
import { AppError } from '#kernel';
import { gapOf } from '../history/command-output.js';
import type { Attachment } from '../transport/client-connection.js';
import type { Outbox } from '../transport/outbox.js';

export interface StreamSubscriptionOptions {
  streamId: string;
  fromOffset: number;
  /** Bytes that may be sent beyond what the client has acknowledged. */
  windowBytes: number;
  /** Largest piece in one message. */
  maxPieceBytes: number;
  outputs: Pick<OutputStore, 'read' | 'nextStored' | 'head'>;
  outbox: Outbox;
  /** Calls the listener when output was committed, or may have been; gives back how to stop that. */
  onOutput: (listener: () => void) => () => void;
  /** Nothing more is sent: the stream ended, or the client left. */
  released: () => void;
  report: (error: unknown, context: Record<string, unknown>) => void;
}

const READ_BYTES = 64 * 1024;

export class StreamSubscription implements Attachment {
  private next: number;
  private acked: number;
  /** Holes beyond `acked` that were passed over: they take no credit. */
  private gaps: OutputCut[] = [];
  private pumping = false;
  /** Something changed while a pass was under way. */
  private again = false;
  /** The client's outbox is full: it goes on when the client has read. */
  private held = false;
  private started = false;
  private over = false;
  private readonly stopListening: (() => void)[];

  constructor(private readonly options: StreamSubscriptionOptions) {
    this.next = options.fromOffset;
    this.acked = options.fromOffset;
    this.stopListening = [options.onOutput(() => this.wake()), options.outbox.onDrain(() => this.drained())];
  }

  /** The subscription was acknowledged: bytes may go out. */
  start(): void {
    this.started = true;
    this.wake();
  }

  /** Nothing more is sent. The last acknowledgement often comes after that: it is taken all the same. */
  get ended(): boolean {
    return this.over;
  }

  /** `offset` is absolute; one below an earlier acknowledgement changes nothing. Throws `stream.offset_invalid` for bytes never sent. */
  acknowledge(offset: number): void {
    if (offset > this.next) {
      throw new AppError('stream.offset_invalid', 'These bytes were not sent yet.', {
        details: { sent_offset: this.next },
      });
    }
    this.acked = Math.max(this.acked, offset);
    this.gaps = this.gaps.filter(({ to }) => to > this.acked);
    this.wake();
  }

  /** Sends what may be sent now. */
  wake(): void {
    if (this.over || !this.started) return;
    this.again = true;
    if (this.pumping) return;
    this.pumping = true;
    void this.pump();
  }

  close(): void {
    if (this.over) return;
    this.over = true;
    for (const stop of this.stopListening) stop();
    this.options.released();
  }

  private drained(): void {
    if (!this.held || this.options.outbox.congested) return;
    this.held = false;
    this.wake();
  }

  private get credit(): number {
    const passedOver = this.gaps.reduce((sum, { from, to }) => sum + to - Math.max(from, this.acked), 0);
    return this.acked + passedOver + this.options.windowBytes - this.next;
  }

  /** Never rejects: what fails is tried again by the next wake-up, at the latest by the timer of the feed. */
  private async pump(): Promise<void> {
    const { streamId, outputs, report } = this.options;
    try {
      while (this.again && !this.over) {
        this.again = false;
        const head = await outputs.head(streamId);
        await this.sendUpTo(head);
      }
    } catch (error) {
      report(error, { operation: 'stream.read', run_id: streamId });
    } finally {
      this.pumping = false;
    }
  }

  private async sendUpTo(head: OutputHead | undefined): Promise<void> {
    const { outputs, outbox, streamId } = this.options;
    const headOffset = head?.headOffset ?? this.next;
    while (head !== undefined && !this.over && this.next < headOffset && this.credit > 0) {
      this.held = outbox.congested;
      if (this.held) return;
      const most = Math.min(READ_BYTES, this.credit, headOffset - this.next);
      const chunks = await outputs.read(streamId, this.next, most);
      if (chunks.length > 0) this.sendAll(chunks, head);
      else this.passOver(await this.endOfHole(headOffset), head);
    }
    if (this.next >= headOffset && head?.ended !== false) this.end(head);
  }

  private async endOfHole(headOffset: number): Promise<number> {
    const stored = await this.options.outputs.nextStored(this.options.streamId, this.next);
    // What was stored a moment ago is read again; what is not stored any more is passed over up to the head.
    return stored ?? Math.max(this.next, headOffset);
  }

  private sendAll(chunks: readonly OutputChunkRecord[], head: OutputHead): void {
    for (const chunk of chunks) {
      if (this.over) return;
      this.passOver(chunk.offset, head);
      this.send(chunk);
    }
  }

  /** Says that bytes are not kept, and goes on behind them. */
  private passOver(toOffset: number, head: OutputHead): void {
    if (this.over || toOffset <= this.next) return;
    const { streamId, outbox } = this.options;
    const gap = { from: this.next, to: toOffset };
    outbox.push('stream_gap', { stream_id: streamId, ...gapOf(head, gap) });
    this.gaps.push(gap);
    this.next = toOffset;
  }

  private send({ offset, channel, data }: OutputChunkRecord): void {
    const { streamId, maxPieceBytes, outbox } = this.options;
    for (let at = 0; at < data.byteLength; at += maxPieceBytes) {
      const piece = data.subarray(at, at + maxPieceBytes);
      outbox.push('stream_data', { stream_id: streamId, offset: offset + at, channel, data: piece });
    }
    this.next = offset + data.byteLength;
  }

  /** Once, after every byte. `head` is undefined when the run is not stored any more: its project was deleted. */
  private end(head: OutputHead | undefined): void {
    if (this.over) return;
    const { streamId, outbox } = this.options;
    const exitCode = head?.exitCode ?? null;
    outbox.push('stream_end', {
      stream_id: streamId,
      end_offset: this.next,
      ...(exitCode === null ? {} : { exit_code: exitCode }),
      reason: head?.reason ?? 'deleted',
    });
    this.close();
  }
}
