// socket.io's parser, which also remembers how large each frame was, so that a frame over the limit is answered and not just cut off.
import { Decoder, Encoder } from 'socket.io-parser';

/** Engine.IO protocol 4 puts the packet's type, one character, before a text: `4` for a message. */
const ENGINE_PREFIX_BYTES = 1;

/** Bytes of each event as it came, binary attachments included, by the array that socket.io hands on. */
const sizes = new WeakMap<object, number>();

class MeasuringDecoder extends Decoder {
  private bytes = 0;

  constructor() {
    super();
    this.on('decoded', (packet: { data?: unknown }) => {
      if (typeof packet.data === 'object' && packet.data !== null) sizes.set(packet.data, this.bytes);
      this.bytes = 0;
    });
  }

  override add(frame: unknown): void {
    this.bytes += typeof frame === 'string' ? Buffer.byteLength(frame) + ENGINE_PREFIX_BYTES : byteLengthOf(frame);
    super.add(frame);
  }
}

const byteLengthOf = (frame: unknown): number =>
  ArrayBuffer.isView(frame) || frame instanceof ArrayBuffer ? frame.byteLength : 0;

export const measuringParser = { Encoder, Decoder: MeasuringDecoder };

/** Bytes of the frame or frames that carried an event; `packet` is what a socket's middleware is given. */
export const frameBytes = (packet: object): number => sizes.get(packet) ?? 0;
