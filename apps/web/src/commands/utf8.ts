// UTF-8 across chunks: a character that a chunk cuts is kept until the rest of it comes. Pure.

export interface Decoded {
  readonly text: string;
  /** Bytes of a character that is not whole yet, at most three. */
  readonly rest: Uint8Array<ArrayBuffer>;
}

export const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes `rest` of the chunk before and this chunk. Bytes that are no UTF-8 become U+FFFD. */
export function decodeUtf8(rest: Uint8Array, chunk: Uint8Array): Decoded {
  const bytes = new Uint8Array(rest.length + chunk.length);
  bytes.set(rest);
  bytes.set(chunk, rest.length);
  const whole = bytes.length - unfinished(bytes);
  return { text: decoder.decode(bytes.subarray(0, whole)), rest: bytes.slice(whole) };
}

/** Where the first character begins in a stream that was entered in its middle: 0 to 3. */
export function firstBoundary(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && at < bytes.length && isContinuation(bytes[at] ?? 0)) at += 1;
  return at;
}

/** How many bytes at the end begin a character that later bytes may finish. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xc2 && lead < 0xe0 ? 2 : 1;
}
