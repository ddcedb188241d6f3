// Carries what a process writes into its spool: stops reading at the cap or when the disk is full (it never drops, R10), and
// decides when the output of an ended process is complete.
import type { Readable } from 'node:stream';
import type { StreamChannel } from '#kernel';
import type { Spool } from './spool.js';

/** What this needs of a spool. */
export type OutputSpool = Pick<Spool, 'append' | 'isFull' | 'seal'>;

/**
 * A background process may hold the pipe of its ended parent for ever, and `cmd > >(tee log)` ends before tee has written. So
 * output is complete at end-of-file, or when nothing came for QUIET_MS after the exit, at the latest after GRACE_MS.
 */
const QUIET_MS = 250;
const GRACE_MS = 2000;
/** How soon a write that the disk refused is tried again. */
const DISK_RETRY_MS = 250;

export interface OutputEvents {
  /** The spool has more. */
  grown(): void;
  /** The process has ended and no byte will be added. */
  complete(): void;
  /** The disk refused a write; it will be tried again. */
  diskError(error: unknown): void;
}

export class ProcessOutput {
  private readonly open = new Set<Readable>();
  /** What was read but the disk did not take; at most one chunk of each channel. */
  private readonly refused: { channel: StreamChannel; data: Buffer }[] = [];
  private retry: NodeJS.Timeout | null = null;
  private grace: { quiet: NodeJS.Timeout; latest: NodeJS.Timeout } | null = null;
  private exited = false;
  private completed = false;
  private paused = false;

  constructor(
    private readonly spool: OutputSpool,
    private readonly events: OutputEvents,
  ) {}

  get isComplete(): boolean {
    return this.completed;
  }

  read(channel: StreamChannel, source: Readable): void {
    this.open.add(source);
    source.on('data', (data: Buffer) => this.take(channel, data));
    source.once('close', () => this.closed(source));
    // A pipe that fails has nothing more to give; 'close' follows.
    source.on('error', () => source.destroy());
  }

  /** The process has ended: from now on its output is finite. */
  processExited(): void {
    this.exited = true;
    this.settle();
  }

  /** There is room again, perhaps: under the cap, or on the disk. */
  acknowledged(): void {
    if (this.retry) this.retryWrite(this.retry);
    this.adjustFlow();
    this.settle();
  }

  private take(channel: StreamChannel, data: Buffer): void {
    // What a background process writes after its parent's output was complete belongs to no run; it is read so that it does not block.
    if (this.completed) return;
    this.refused.push({ channel, data });
    this.write();
    this.adjustFlow();
    if (this.grace) this.restartQuiet(this.grace);
  }

  private write(): void {
    if (this.retry) return;
    try {
      for (let next = this.refused[0]; next; next = this.refused[0]) {
        this.spool.append(next.channel, next.data);
        this.refused.shift();
      }
    } catch (error) {
      this.events.diskError(error);
      const retry = setTimeout(() => this.retryWrite(retry), DISK_RETRY_MS);
      this.retry = retry;
      return;
    }
    this.events.grown();
  }

  private retryWrite(retry: NodeJS.Timeout): void {
    clearTimeout(retry);
    this.retry = null;
    this.write();
    this.adjustFlow();
    this.settle();
  }

  private adjustFlow(): void {
    const pause = !this.completed && (this.spool.isFull || this.refused.length > 0);
    if (pause === this.paused) return;
    this.paused = pause;
    for (const source of this.open) {
      if (pause) source.pause();
      else source.resume();
    }
  }

  private closed(source: Readable): void {
    this.open.delete(source);
    this.settle();
  }

  private settle(): void {
    if (!this.exited || this.completed) return;
    if (this.refused.length > 0) return this.stopGrace();
    if (this.open.size === 0) return this.finish();
    // While reading is stopped, silence means nothing.
    if (this.paused) return this.stopGrace();
    this.grace ??= {
      quiet: setTimeout(() => this.finish(), QUIET_MS),
      latest: setTimeout(() => this.finish(), GRACE_MS),
    };
  }

  private restartQuiet(grace: { quiet: NodeJS.Timeout }): void {
    if (this.paused) this.stopGrace();
    else grace.quiet.refresh();
  }

  private stopGrace(): void {
    if (!this.grace) return;
    clearTimeout(this.grace.quiet);
    clearTimeout(this.grace.latest);
    this.grace = null;
  }

  private finish(): void {
    this.stopGrace();
    this.completed = true;
    this.spool.seal();
    this.adjustFlow();
    this.events.complete();
  }
}
