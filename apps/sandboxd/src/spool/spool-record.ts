// One record of a spool file: which channel wrote, how many bytes, the bytes. Records keep stdout and stderr in the order in
// which they were read (R9).
import { STREAM_CHANNELS, type StreamChannel } from '#kernel';

/** u8 channel, u32 length (big endian); the bytes follow. */
export const RECORD_HEADER_BYTES = 5;
/** A longer length in a header is damage, not a record. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

export interface RecordHeader {
  channel: StreamChannel;
  bytes: number;
}

export function encodeRecord(channel: StreamChannel, data: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(RECORD_HEADER_BYTES + data.length);
  record.writeUInt8(STREAM_CHANNELS.indexOf(channel), 0);
  record.writeUInt32BE(data.length, 1);
  record.set(data, RECORD_HEADER_BYTES);
  return record;
}

/** The header at `at`, or null where there is none: the file ends, or what follows was never written whole. */
export function readRecordHeader(bytes: Buffer, at: number): RecordHeader | null {
  if (bytes.length < at + RECORD_HEADER_BYTES) return null;
  const channel = STREAM_CHANNELS[bytes.readUInt8(at)];
  const length = bytes.readUInt32BE(at + 1);
  if (channel === undefined || length === 0 || length > MAX_RECORD_BYTES) return null;
  return { channel, bytes: length };
}
