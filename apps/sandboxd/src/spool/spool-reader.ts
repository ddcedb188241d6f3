// Reads a spool from any offset, in blocks, while it is written at its head and deleted at its tail.
import type { StreamChannel } from '#kernel';
import { type Segment, readSegment } from './segment.js';
import { type Spool, offsetInvalid } from './spool.js';
import { RECORD_HEADER_BYTES, readRecordHeader } from './spool-record.js';

/** Bytes of a file that are read at once. */
const BLOCK_BYTES = 256 * 1024;

export interface SpoolPiece {
  offset: number;
  channel: StreamChannel;
  data: Buffer;
}

/** Where the reader is in a segment: the rest of the record it is in, and the file behind it. */
interface Place {
  segment: Segment;
  /** Offset in the file of the next record's header. */
  nextRecord: number;
  channel: StreamChannel;
  /** Bytes of the current record that were not read yet, and where they start in the file. */
  left: number;
  leftAt: number;
}

export class SpoolReader {
  private place: Place | null = null;
  private block: { at: number; bytes: Buffer } | null = null;

  constructor(
    private readonly spool: Spool,
    private offset: number,
  ) {
    if (offset < spool.tail || offset > spool.head) throw offsetInvalid(offset, spool);
  }

  get position(): number {
    return this.offset;
  }

  /** The next bytes of one channel, at most `limit`, or null at the head. Throws `stream.offset_invalid` if they were deleted meanwhile. */
  next(limit: number): SpoolPiece | null {
    if (this.offset >= this.spool.head) return null;
    if (this.offset < this.spool.tail) throw offsetInvalid(this.offset, this.spool);
    const place = this.locate();
    const length = Math.min(limit, place.left, BLOCK_BYTES);
    const data = this.bytesAt(place.segment, place.leftAt, length);
    const piece = { offset: this.offset, channel: place.channel, data };
    this.offset += length;
    place.left -= length;
    place.leftAt += length;
    return piece;
  }

  private locate(): Place {
    if (this.place && this.place.left > 0) return this.place;
    if (!this.place || this.offset >= this.place.segment.end) this.enter(this.spool.segmentAt(this.offset));
    const place = this.place as Place;
    while (place.left === 0) this.nextRecord(place);
    return place;
  }

  /** Goes to `offset` within a segment, from record to record: they have no index. */
  private enter(segment: Segment): void {
    const place: Place = { segment, nextRecord: 0, channel: 'stdout', left: 0, leftAt: 0 };
    this.place = place;
    this.block = null;
    for (let at = segment.start; at < this.offset;) {
      this.nextRecord(place);
      const skipped = Math.min(place.left, this.offset - at);
      at += skipped;
      place.left -= skipped;
      place.leftAt += skipped;
    }
  }

  private nextRecord(place: Place): void {
    const header = readRecordHeader(this.bytesAt(place.segment, place.nextRecord, RECORD_HEADER_BYTES), 0);
    if (header === null) throw new Error('A spool file was damaged.');
    place.channel = header.channel;
    place.left = header.bytes;
    place.leftAt = place.nextRecord + RECORD_HEADER_BYTES;
    place.nextRecord = place.leftAt + header.bytes;
  }

  private bytesAt(segment: Segment, at: number, length: number): Buffer {
    let held = this.block;
    if (!held || at < held.at || at + length > held.at + held.bytes.length) {
      held = { at, bytes: readSegment(segment, at, Math.max(BLOCK_BYTES, length)) };
      if (held.bytes.length < length) throw new Error('A spool file was damaged.');
      this.block = held;
    }
    return held.bytes.subarray(at - held.at, at - held.at + length);
  }
}
