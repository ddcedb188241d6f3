// UTF-8 over chunk borders.
import fc from 'fast-check';
import { decodeUtf8, firstBoundary, NO_BYTES } from './utf8.js';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Decodes the bytes in pieces that end at these places. */
function inPieces(bytes: Uint8Array, cuts: number[]): string {
  const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
  let rest = NO_BYTES;
  let text = '';
  for (const [at, edge] of edges.entries()) {
    const decoded = decodeUtf8(rest, bytes.subarray(edges[at - 1] ?? 0, edge));
    rest = decoded.rest;
    text += decoded.text;
  }
  return text;
}

describe('decodeUtf8', () => {
  it('WEB-26 gives the same text however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(60)), (text, cuts) => {
        expect(inPieces(encode(text), cuts)).toBe(text);
      }),
    );
  });

  it('WEB-26 never holds back more than three bytes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decodeUtf8(NO_BYTES, bytes).rest.length).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('shows bytes that are no UTF-8 as U+FFFD', () => {
    expect(decodeUtf8(NO_BYTES, Uint8Array.of(0x61, 0xff, 0x62)).text).toBe('a\ufffdb');
  });
});

describe('firstBoundary', () => {
  it('WEB-26 passes over the rest of a character that began before', () => {
    const bytes = encode('🎉a').subarray(2);
    expect(firstBoundary(bytes)).toBe(2);
    expect(firstBoundary(encode('a'))).toBe(0);
  });
});
