// A file of a spool: consecutive records, named by the offset of its first payload byte.
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { RECORD_HEADER_BYTES, readRecordHeader } from './spool-record.js';

const NAME = /^(\d{16})\.seg$/;

export interface Segment {
  readonly path: string;
  /** Offset of its first payload byte. */
  readonly start: number;
  /** Offset after its last payload byte. */
  end: number;
  /** Bytes of the file that hold whole records; what lies behind is the rest of a write that failed. */
  fileBytes: number;
}

export function newSegment(folder: string, start: number): Segment {
  return { path: join(folder, `${String(start).padStart(16, '0')}.seg`), start, end: start, fileBytes: 0 };
}

/** The segment that a file name stands for, or null for other files. */
export function segmentOf(folder: string, name: string): Segment | null {
  const match = NAME.exec(name);
  return match ? newSegment(folder, Number(match[1])) : null;
}

/** Appends one encoded record. If it throws, the segment is as it was, and the same record may be appended again. */
export function appendRecord(segment: Segment, fd: number, record: Buffer): void {
  for (let written = 0; written < record.length;) {
    written += writeSync(fd, record, written, record.length - written, segment.fileBytes + written);
  }
  segment.fileBytes += record.length;
  segment.end += record.length - RECORD_HEADER_BYTES;
}

/** Counts the whole records of a file that an earlier boot left behind. */
export function measureSegment(segment: Segment): void {
  const bytes = readFileSync(segment.path);
  for (let at = 0; ;) {
    const header = readRecordHeader(bytes, at);
    if (header === null || at + RECORD_HEADER_BYTES + header.bytes > bytes.length) return;
    at += RECORD_HEADER_BYTES + header.bytes;
    segment.fileBytes = at;
    segment.end += header.bytes;
  }
}

/** The whole of its records from `fileOffset` on, at most `limit` bytes. */
export function readSegment(segment: Segment, fileOffset: number, limit: number): Buffer {
  const block = Buffer.allocUnsafe(Math.min(limit, segment.fileBytes - fileOffset));
  const fd = openSync(segment.path, 'r');
  try {
    let filled = 0;
    while (filled < block.length) {
      const read = readSync(fd, block, filled, block.length - filled, fileOffset + filled);
      if (read === 0) throw new Error('A spool file is shorter than what was written to it.');
      filled += read;
    }
    return block;
  } finally {
    closeSync(fd);
  }
}
