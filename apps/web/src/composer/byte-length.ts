// How long a text is on the wire.

/** Bytes of the text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
