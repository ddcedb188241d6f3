// The worker's end of one attachment: an async iteration over output, which asks for more only as it is read.
import type { ProcessExit, ProcessOutput, SpoolChunk } from '#domain';
import type { AppError } from '#kernel';
import { MAX_UNREAD_FRAMES } from '../wire/index.js';

/** Bytes that sandboxd may send ahead of the reader; also the most that waits here. */
export const WINDOW_BYTES = 1024 * 1024;

export interface OutputStreamLinks {
  /** Tells sandboxd that there is room up to this absolute offset, and that so many frames were read. */
  credit(upTo: number, framesRead: number): void;
  /** The reader wants no more. */
  detach(): void;
}

export class OutputStream implements ProcessOutput {
  readonly ended: Promise<ProcessExit>;
  private readonly queue: SpoolChunk[] = [];
  private readonly settleEnded: { resolve: (exit: ProcessExit) => void; reject: (error: AppError) => void };
  private outcome: { exit: ProcessExit } | { error: AppError } | 'closed' | null = null;
  private wake: (() => void) | null = null;
  private creditedUpTo: number;
  private readSinceCredit = 0;

  constructor(
    fromOffset: number,
    private readonly links: OutputStreamLinks,
  ) {
    this.creditedUpTo = fromOffset + WINDOW_BYTES;
    let settle: OutputStream['settleEnded'] | undefined;
    this.ended = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.settleEnded = settle as unknown as OutputStream['settleEnded'];
    // A reader that only iterates sees the same error there.
    this.ended.catch(() => undefined);
  }

  /** From the connection: output, in order. */
  push(chunk: SpoolChunk): void {
    if (this.outcome !== null) return;
    this.queue.push(chunk);
    this.wakeReader();
  }

  /** From the connection: every byte was pushed and the process has ended. */
  finish(exit: ProcessExit): void {
    if (this.outcome !== null) return;
    this.outcome = { exit };
    if (this.queue.length === 0) this.settleEnded.resolve(exit);
    this.wakeReader();
  }

  fail(error: AppError): void {
    if (this.outcome !== null) return;
    this.outcome = { error };
    this.settleEnded.reject(error);
    this.wakeReader();
  }

  close(): void {
    if (this.outcome !== null && this.queue.length === 0) return;
    this.queue.length = 0;
    if (this.outcome === null) {
      this.outcome = 'closed';
      this.links.detach();
    }
    this.wakeReader();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SpoolChunk> {
    try {
      for (;;) {
        const chunk = this.queue.shift();
        if (chunk) {
          this.extendCredit(chunk.offset + chunk.data.length);
          yield chunk;
        } else if (this.outcome === null) {
          await new Promise<void>((resolve) => (this.wake = resolve));
        } else {
          return this.conclude(this.outcome);
        }
      }
    } finally {
      this.close();
    }
  }

  private conclude(outcome: { exit: ProcessExit } | { error: AppError } | 'closed'): void {
    if (outcome === 'closed') return;
    if ('error' in outcome) throw outcome.error;
    this.settleEnded.resolve(outcome.exit);
  }

  /** In steps, so that not every chunk costs a frame: half a window, or a quarter of the frames that may be unread. */
  private extendCredit(consumedUpTo: number): void {
    this.readSinceCredit++;
    const isDue = consumedUpTo + WINDOW_BYTES / 2 >= this.creditedUpTo || this.readSinceCredit >= MAX_UNREAD_FRAMES / 4;
    if (this.outcome !== null || !isDue) return;
    this.creditedUpTo = consumedUpTo + WINDOW_BYTES;
    this.links.credit(this.creditedUpTo, this.readSinceCredit);
    this.readSinceCredit = 0;
  }

  private wakeReader(): void {
    this.wake?.();
    this.wake = null;
  }
}
