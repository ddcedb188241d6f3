// Writes frames to a socket and knows when the other end does not keep up.
import type { Socket } from 'node:net';
import { FRAME, dataHeader, frameHeader } from '#sandbox/wire';
import type { SpoolPiece } from '../spool/spool-reader.js';

export class FrameSink {
  constructor(private readonly socket: Socket) {}

  /** False while the socket's buffer is full; the socket says 'drain' when it is not. */
  get isWritable(): boolean {
    return this.socket.writable && !this.socket.writableNeedDrain;
  }

  send(frame: Buffer): void {
    if (this.socket.writable) this.socket.write(frame);
  }

  /** The output itself is not copied. */
  sendData(stream: number, { channel, offset, data }: SpoolPiece): void {
    const header = dataHeader(stream, channel, offset);
    this.socket.cork();
    this.socket.write(frameHeader(FRAME.data, header.length + data.length));
    this.socket.write(header);
    this.socket.write(data);
    this.socket.uncork();
  }
}
