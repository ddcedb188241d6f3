// Frames of the sandbox wire: a length, a type, a payload. The decoder takes any chunking and holds at most one frame's bytes.
import { WireError } from './wire-error.js';

export const FRAME = {
  /** JSON, both ways. */
  control: 0,
  /** Output of a process, from sandboxd. */
  data: 1,
  /** Input for a process, to sandboxd. */
  input: 2,
  /** Reserved for terminals: refused by this version. */
  ptyInput: 3,
  ptyResize: 4,
} as const;
export type FrameType = (typeof FRAME)['control' | 'data' | 'input'];

/** Most payload bytes of a frame, by type. Input is the largest: one message for an agent travels in one frame. */
export const MAX_PAYLOAD_BYTES: Readonly<Record<FrameType, number>> = {
  [FRAME.control]: 1024 * 1024,
  [FRAME.data]: 256 * 1024,
  [FRAME.input]: 16 * 1024 * 1024,
};

/** Bytes before a payload: u32 length of what follows (big endian), u8 type. */
export const FRAME_HEADER_BYTES = 5;

export interface Frame {
  type: FrameType;
  payload: Buffer;
}

/** Header of a frame whose payload (of `payloadBytes`) is written after it, so that large payloads are not copied. */
export function frameHeader(type: FrameType, payloadBytes: number): Buffer {
  if (payloadBytes > MAX_PAYLOAD_BYTES[type])
    throw new WireError(`a payload of ${payloadBytes} bytes is too large to send`);
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUInt32BE(payloadBytes + 1, 0);
  header.writeUInt8(type, 4);
  return header;
}

export function encodeFrame(type: FrameType, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(type, payload.length), payload]);
}

/** Turns bytes into frames. `accepts`: the types that the other end may send. */
export class FrameDecoder {
  private chunks: Buffer[] = [];
  private buffered = 0;
  private broken = false;

  constructor(private readonly accepts: readonly FrameType[]) {}

  /** Bytes held for a frame that is not complete yet; never more than the largest accepted frame and one chunk. */
  get bufferedBytes(): number {
    return this.buffered;
  }

  /** Complete frames, in order. Throws WireError, and from then on always. */
  push(chunk: Buffer): Frame[] {
    if (this.broken) throw new WireError('bytes arrived after a broken frame');
    try {
      return this.decode(chunk);
    } catch (error) {
      this.broken = true;
      this.chunks = [];
      this.buffered = 0;
      throw error;
    }
  }

  private decode(chunk: Buffer): Frame[] {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    const frames: Frame[] = [];
    while (this.buffered >= FRAME_HEADER_BYTES) {
      const { type, frameBytes } = this.peekHeader();
      if (this.buffered < frameBytes) break;
      frames.push({ type, payload: this.take(frameBytes).subarray(FRAME_HEADER_BYTES) });
    }
    return frames;
  }

  private peekHeader(): { type: FrameType; frameBytes: number } {
    const first = this.chunks[0];
    const header = first && first.length >= FRAME_HEADER_BYTES ? first : this.gather();
    const length = header.readUInt32BE(0);
    const code = header.readUInt8(4);
    const type = this.accepts.find((accepted) => accepted === code);
    if (type === undefined) throw new WireError(`a frame has type ${code}`);
    if (length < 1 || length - 1 > MAX_PAYLOAD_BYTES[type]) throw new WireError(`a frame says it has ${length} bytes`);
    return { type, frameBytes: 4 + length };
  }

  private gather(): Buffer {
    const all = this.chunks.length === 1 && this.chunks[0] ? this.chunks[0] : Buffer.concat(this.chunks, this.buffered);
    this.chunks = [all];
    return all;
  }

  private take(bytes: number): Buffer {
    const all = this.gather();
    const rest = all.subarray(bytes);
    this.chunks = rest.length > 0 ? [rest] : [];
    this.buffered = rest.length;
    return all.subarray(0, bytes);
  }
}
