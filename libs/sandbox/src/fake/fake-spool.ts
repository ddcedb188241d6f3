// The fake's spool: the real one's promises, in memory. Writers wait at the cap; readers follow the head.
import type { SpoolChunk } from '#domain';
import { AppError, type StreamChannel } from '#kernel';

export class FakeSpool {
  private chunks: SpoolChunk[] = [];
  private acknowledged = 0;
  private waiting: (() => void)[] = [];
  head = 0;

  constructor(private readonly capBytes: number) {}

  get tail(): number {
    return this.chunks[0]?.offset ?? this.head;
  }

  get isFull(): boolean {
    return this.head - this.acknowledged >= this.capBytes;
  }

  /** Something changed: output, an acknowledgement, or the end of the process. */
  async change(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  notify(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  append(channel: StreamChannel, data: Uint8Array): void {
    if (data.length === 0) return;
    this.chunks.push({ offset: this.head, channel, data: Uint8Array.from(data) });
    this.head += data.length;
    this.notify();
  }

  acknowledge(offset: number): void {
    if (offset > this.head) throw this.offsetInvalid(offset);
    this.acknowledged = Math.max(this.acknowledged, offset);
    this.chunks = this.chunks.filter(({ offset: start, data }) => start + data.length > this.acknowledged);
    this.notify();
  }

  checkOffset(offset: number): void {
    if (offset < this.tail || offset > this.head) throw this.offsetInvalid(offset);
  }

  /** The next bytes of one channel from `offset` on, or null at the head. */
  read(offset: number): SpoolChunk | null {
    if (offset >= this.head) return null;
    const chunk = this.chunks.find(({ offset: start, data }) => offset >= start && offset < start + data.length);
    if (!chunk) throw this.offsetInvalid(offset);
    return { offset, channel: chunk.channel, data: chunk.data.subarray(offset - chunk.offset) };
  }

  private offsetInvalid(offset: number): AppError {
    return new AppError('stream.offset_invalid', 'That offset is not in the output that is still there.', {
      details: { offset, tail_offset: this.tail, head_offset: this.head },
    });
  }
}
