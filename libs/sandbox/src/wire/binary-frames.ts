// Payloads of the two binary frames: output of a process (DATA) and input for one (INPUT). Numbers are big endian.
import { STREAM_CHANNELS, type StreamChannel } from '#kernel';
import { isKey, isProcessId } from './control-values.js';
import { FRAME, MAX_PAYLOAD_BYTES } from './frame.js';
import { WireError } from './wire-error.js';

/** u32 stream, u8 channel, u64 offset; the output follows. */
export const DATA_HEADER_BYTES = 13;
export const MAX_DATA_BYTES = MAX_PAYLOAD_BYTES[FRAME.data] - DATA_HEADER_BYTES;

/** Most DATA frames of one attachment that may be unread, however small they are: a reader's memory is bounded in frames too. */
export const MAX_UNREAD_FRAMES = 2048;

export interface DataFrame {
  /** Number that the client chose when it attached. */
  stream: number;
  channel: StreamChannel;
  /** Offset of the first byte, over both channels of the process (R9). */
  offset: number;
  data: Buffer;
}

/** What comes before the output itself in a DATA payload. */
export function dataHeader(stream: number, channel: StreamChannel, offset: number): Buffer {
  const header = Buffer.allocUnsafe(DATA_HEADER_BYTES);
  header.writeUInt32BE(stream, 0);
  header.writeUInt8(STREAM_CHANNELS.indexOf(channel), 4);
  writeUint64(header, offset, 5);
  return header;
}

export function decodeData(payload: Buffer): DataFrame {
  if (payload.length < DATA_HEADER_BYTES) throw new WireError('an output frame is too short');
  const channel = STREAM_CHANNELS[payload.readUInt8(4)];
  if (channel === undefined) throw new WireError('an output frame names no channel');
  return {
    stream: payload.readUInt32BE(0),
    channel,
    offset: readUint64(payload, 5),
    data: payload.subarray(DATA_HEADER_BYTES),
  };
}

/** u32 request number, u64 epoch, u8 length and process id, u8 length and key; the input follows. */
const INPUT_FIXED_BYTES = 14;
/** Most bytes of one input; the rest of the largest frame is room for ids. */
export const MAX_INPUT_BYTES = MAX_PAYLOAD_BYTES[FRAME.input] - 1024;

export interface InputFrame {
  request: number;
  epoch: number;
  processId: string;
  key: string;
  data: Buffer;
}

/** What comes before the bytes themselves in an INPUT payload. */
export function inputHeader(frame: Omit<InputFrame, 'data'>): Buffer {
  const id = Buffer.from(frame.processId, 'latin1');
  const key = Buffer.from(frame.key, 'latin1');
  const header = Buffer.alloc(INPUT_FIXED_BYTES + id.length + key.length);
  header.writeUInt32BE(frame.request, 0);
  writeUint64(header, frame.epoch, 4);
  header.writeUInt8(id.length, 12);
  id.copy(header, 13);
  header.writeUInt8(key.length, 13 + id.length);
  key.copy(header, 14 + id.length);
  return header;
}

export function decodeInput(payload: Buffer): InputFrame {
  const processId = readShortString(payload, 12, 'process id');
  const key = readShortString(payload, 13 + processId.length, 'key');
  if (!isProcessId(processId)) throw new WireError('an input frame names no process');
  if (!isKey(key)) throw new WireError('an input frame has no key');
  return {
    request: payload.readUInt32BE(0),
    epoch: readUint64(payload, 4),
    processId,
    key,
    data: payload.subarray(INPUT_FIXED_BYTES + processId.length + key.length),
  };
}

function readShortString(payload: Buffer, at: number, what: string): string {
  const length = payload[at];
  if (length === undefined || payload.length < at + 1 + length)
    throw new WireError(`an input frame ends in its ${what}`);
  return payload.toString('latin1', at + 1, at + 1 + length);
}

function writeUint64(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  buffer.writeUInt32BE(value % 2 ** 32, at + 4);
}

function readUint64(buffer: Buffer, at: number): number {
  const value = buffer.readUInt32BE(at) * 2 ** 32 + buffer.readUInt32BE(at + 4);
  if (!Number.isSafeInteger(value)) throw new WireError('a number is too large');
  return value;
}
