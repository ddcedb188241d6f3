// One client's view of one job's output: sends from the spool as far as the client's credit and its socket allow. A client that
// does not read costs nothing but its place in the spool.
import type { AppError } from '#kernel';
import { toAppError } from '#kernel';
import { MAX_UNREAD_FRAMES, type ProcessExit, encodeDetached, encodeEnd } from '#sandbox/wire';
import type { Job, JobListener } from '../jobs/job.js';
import { SpoolReader } from '../spool/spool-reader.js';
import type { FrameSink } from './frame-sink.js';

/** Bytes of one DATA frame; small enough that several outputs share a connection fairly. */
const PIECE_BYTES = 64 * 1024;

export interface AttachmentOptions {
  stream: number;
  fromOffset: number;
  creditUpTo: number;
  epoch: number;
}

export class Attachment implements JobListener {
  readonly epoch: number;
  private readonly reader: SpoolReader;
  private readonly stream: number;
  private creditUpTo: number;
  private exit: ProcessExit | null;
  private framesLeft = MAX_UNREAD_FRAMES;
  private over = false;

  /** Throws `stream.offset_invalid`. `onOver` is called once, when nothing more will be sent. */
  constructor(
    private readonly job: Job,
    private readonly sink: FrameSink,
    { stream, fromOffset, creditUpTo, epoch }: AttachmentOptions,
    private readonly onOver: () => void,
  ) {
    this.epoch = epoch;
    this.stream = stream;
    this.creditUpTo = creditUpTo;
    this.exit = job.exit;
    this.reader = new SpoolReader(job.spool, fromOffset);
  }

  /** The client has room up to this absolute offset, and has read so many more frames. */
  credit(upTo: number, framesRead: number): void {
    this.creditUpTo = Math.max(this.creditUpTo, upTo);
    this.framesLeft = Math.min(MAX_UNREAD_FRAMES, this.framesLeft + framesRead);
    this.pump();
  }

  grown(): void {
    this.pump();
  }

  ended(exit: ProcessExit): void {
    this.exit = exit;
    this.pump();
  }

  detached(error: AppError): void {
    if (this.over) return;
    this.sink.send(encodeDetached(this.stream, error));
    this.finish();
  }

  close(): void {
    this.job.detach(this);
    this.finish();
  }

  pump(): void {
    if (this.over) return;
    try {
      this.sendOutput();
    } catch (error) {
      this.job.detach(this, toAppError(error));
      return;
    }
    if (this.exit === null || this.reader.position < this.job.spool.head) return;
    this.sink.send(encodeEnd(this.stream, this.exit));
    this.close();
  }

  private sendOutput(): void {
    while (this.sink.isWritable && this.framesLeft > 0) {
      const credit = this.creditUpTo - this.reader.position;
      const piece = credit > 0 ? this.reader.next(Math.min(credit, PIECE_BYTES)) : null;
      if (piece === null) return;
      this.framesLeft--;
      this.sink.sendData(this.stream, piece);
    }
  }

  private finish(): void {
    if (this.over) return;
    this.over = true;
    this.onOver();
  }
}
