// DATA and INPUT payloads: round trips, and garbage as a typed error.
import fc from 'fast-check';
import { STREAM_CHANNELS } from '#kernel';
import { dataHeader, decodeData, decodeInput, inputHeader } from './binary-frames.js';
import { WireError } from './wire-error.js';

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data));

describe('binary frames', () => {
  it('SBX-1 carry output unchanged', () => {
    fc.assert(
      fc.property(uint32, fc.constantFrom(...STREAM_CHANNELS), number, bytes, (stream, channel, offset, data) => {
        expect(decodeData(Buffer.concat([dataHeader(stream, channel, offset), data]))).toEqual({
          stream,
          channel,
          offset,
          data,
        });
      }),
    );
  });

  it('SBX-1 carry input unchanged', () => {
    const id = fc.stringMatching(/^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/);
    const key = fc.stringMatching(/^[\x21-\x7e]{1,128}$/);
    fc.assert(
      fc.property(uint32, number, id, key, bytes, (request, epoch, processId, inputKey, data) => {
        const header = inputHeader({ request, epoch, processId, key: inputKey });
        expect(decodeInput(Buffer.concat([header, data]))).toEqual({ request, epoch, processId, key: inputKey, data });
      }),
    );
  });

  it('SBX-2 say what is wrong with garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (garbage) => {
        for (const decode of [decodeData, decodeInput]) {
          try {
            decode(Buffer.from(garbage));
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('SBX-2 refuse a process id that could be a path', () => {
    for (const processId of ['../x', 'a/b', '.', '']) {
      expect(() => decodeInput(inputHeader({ request: 1, epoch: 1, processId, key: 'k' }))).toThrow(WireError);
    }
  });
});
