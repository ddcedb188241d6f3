// The output of one process on disk, in segment files. It only grows at its head and is only deleted below what was acknowledged.
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { AppError, type StreamChannel } from '#kernel';
import { encodeRecord } from './spool-record.js';
import { type Segment, appendRecord, measureSegment, newSegment, segmentOf } from './segment.js';

/** A segment is closed when its file has this many bytes; it is also the grain in which disk space comes back. */
export const SEGMENT_BYTES = 1024 * 1024;

export interface SpoolLimits {
  /** Most payload bytes that may be unacknowledged before `isFull` says so (R10). */
  capBytes: number;
  segmentBytes: number;
}

export class Spool {
  private readonly segments: Segment[];
  private writer: { segment: Segment; fd: number } | null = null;
  private acknowledged: number;

  private constructor(
    private readonly folder: string,
    private readonly limits: SpoolLimits,
    segments: Segment[],
  ) {
    this.segments = segments;
    this.acknowledged = segments[0]?.start ?? 0;
  }

  static create(folder: string, limits: SpoolLimits): Spool {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return new Spool(folder, limits, [newSegment(folder, 0)]);
  }

  /** The spool that an earlier boot left in `folder`; a record that was not written whole is left out. */
  static recover(folder: string, limits: SpoolLimits): Spool {
    const found = readdirSync(folder)
      .map((name) => segmentOf(folder, name))
      .filter((segment): segment is Segment => segment !== null)
      .sort((a, b) => a.start - b.start);
    const segments: Segment[] = [];
    for (const segment of found) {
      if (segments.length > 0 && segments.at(-1)?.end !== segment.start) break;
      measureSegment(segment);
      segments.push(segment);
    }
    return new Spool(folder, limits, segments.length > 0 ? segments : [newSegment(folder, 0)]);
  }

  /** Offset after the last byte. */
  get head(): number {
    return this.segments.at(-1)?.end ?? 0;
  }

  /** First byte that is still here. */
  get tail(): number {
    return this.segments[0]?.start ?? 0;
  }

  get isFull(): boolean {
    return this.head - this.acknowledged >= this.limits.capBytes;
  }

  /** Appends; throws what the disk said (ENOSPC, …) with nothing appended, so that the same bytes may be tried again. */
  append(channel: StreamChannel, data: Uint8Array): void {
    if (data.length === 0) return;
    const { segment, fd } = this.openWriter();
    appendRecord(segment, fd, encodeRecord(channel, data));
    if (segment.fileBytes >= this.limits.segmentBytes) this.closeWriter();
  }

  /** Everything below `offset` is committed elsewhere. Whole segments below it are deleted; an older offset changes nothing. */
  acknowledge(offset: number): void {
    if (offset > this.head) throw offsetInvalid(offset, this);
    this.acknowledged = Math.max(this.acknowledged, offset);
    for (let first = this.segments[0]; first && first.end <= this.acknowledged; first = this.segments[0]) {
      if (first.end === this.head) break;
      this.segments.shift();
      unlinkSync(first.path);
    }
  }

  /** The segment that holds the byte at `offset` (below the head). Throws `stream.offset_invalid` if it was deleted. */
  segmentAt(offset: number): Segment {
    const segment = this.segments.find(({ start, end }) => offset >= start && offset < end);
    if (!segment) throw offsetInvalid(offset, this);
    return segment;
  }

  /** No more output will come. */
  seal(): void {
    this.closeWriter();
  }

  remove(): void {
    this.closeWriter();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private openWriter(): { segment: Segment; fd: number } {
    if (this.writer) return this.writer;
    let segment = this.segments.at(-1);
    if (!segment || segment.fileBytes >= this.limits.segmentBytes) {
      segment = newSegment(this.folder, this.head);
      const fd = openSync(segment.path, 'w', 0o600);
      this.segments.push(segment);
      return (this.writer = { segment, fd });
    }
    return (this.writer = { segment, fd: openSync(segment.path, segment.fileBytes > 0 ? 'r+' : 'w', 0o600) });
  }

  private closeWriter(): void {
    if (!this.writer) return;
    closeSync(this.writer.fd);
    this.writer = null;
  }
}

export function offsetInvalid(offset: number, { tail, head }: { tail: number; head: number }): AppError {
  return new AppError('stream.offset_invalid', 'That offset is not in the output that is still there.', {
    details: { offset, tail_offset: tail, head_offset: head },
  });
}
