// The codec under any chunking and any garbage.
import fc from 'fast-check';
import { FRAME, FrameDecoder, type Frame, MAX_PAYLOAD_BYTES, encodeFrame } from './frame.js';
import { WireError } from './wire-error.js';

const frames = fc.array(
  fc.record({ type: fc.constantFrom(FRAME.control, FRAME.data), payload: fc.uint8Array({ maxLength: 600 }) }),
  { maxLength: 12 },
);
const both = [FRAME.control, FRAME.data] as const;

/** Cuts `bytes` at the given places (as fractions of its length). */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...places.map((place) => Math.floor(place * bytes.length)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const plain = (list: { type: number; payload: Uint8Array }[]): unknown[] =>
  list.map(({ type, payload }) => ({ type, payload: Buffer.from(payload).toString('hex') }));

describe('frames', () => {
  it('SBX-1 come out as they went in, however the bytes were cut', () => {
    const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 });
    fc.assert(
      fc.property(frames, places, (sent, where) => {
        const decoder = new FrameDecoder(both);
        const bytes = Buffer.concat(sent.map(({ type, payload }) => encodeFrame(type, payload)));
        const got = cut(bytes, where).flatMap((chunk) => decoder.push(chunk));
        expect(plain(got)).toEqual(plain(sent));
        expect(decoder.bufferedBytes).toBe(0);
      }),
    );
  });

  it('SBX-1 come out of single bytes', () => {
    const decoder = new FrameDecoder(both);
    const bytes = Buffer.concat([
      encodeFrame(FRAME.data, Buffer.from('output')),
      encodeFrame(FRAME.control, Buffer.alloc(0)),
    ]);
    const got: Frame[] = [];
    for (const byte of bytes) got.push(...decoder.push(Buffer.from([byte])));
    expect(got.map(({ payload }) => payload.toString())).toEqual(['output', '']);
  });

  it('SBX-2 turns any garbage into frames or a WireError, and holds no more than one frame and one chunk', () => {
    const limit = MAX_PAYLOAD_BYTES[FRAME.control] + 5;
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 4000 }), { maxLength: 30 }), (chunks) => {
        const decoder = new FrameDecoder(both);
        try {
          for (const chunk of chunks) {
            decoder.push(Buffer.from(chunk));
            expect(decoder.bufferedBytes).toBeLessThanOrEqual(limit + chunk.length);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
          expect(decoder.bufferedBytes).toBe(0);
        }
      }),
    );
  });

  it('SBX-2 refuses a length over the limit as soon as the header is there, and everything after it', () => {
    const decoder = new FrameDecoder(both);
    const header = Buffer.from([0, 0, 0, 0, FRAME.data]);
    header.writeUInt32BE(MAX_PAYLOAD_BYTES[FRAME.data] + 2, 0);
    expect(() => decoder.push(header)).toThrow(WireError);
    expect(() => decoder.push(encodeFrame(FRAME.data, Buffer.from('good')))).toThrow(WireError);
  });

  it('SBX-2 takes a payload of exactly the limit', () => {
    const decoder = new FrameDecoder([FRAME.data]);
    const [frame] = decoder.push(encodeFrame(FRAME.data, Buffer.alloc(MAX_PAYLOAD_BYTES[FRAME.data])));
    expect(frame?.payload).toHaveLength(MAX_PAYLOAD_BYTES[FRAME.data]);
    expect(() => encodeFrame(FRAME.data, Buffer.alloc(MAX_PAYLOAD_BYTES[FRAME.data] + 1))).toThrow(WireError);
  });

  it('SBX-3 refuses the reserved terminal frames and types of the wrong direction', () => {
    for (const type of [FRAME.ptyInput, FRAME.ptyResize, FRAME.input, 200]) {
      expect(() => new FrameDecoder(both).push(Buffer.from([0, 0, 0, 1, type]))).toThrow(/type/);
    }
  });
});
