// Where a range of bytes cuts UTF-8 characters (RFC 3629, section 3).

/** A UTF-8 character has at most four bytes, so at most three of an unfinished one can be at either end. */
export const MAX_UNFINISHED = 3;

/** Bytes at the end that begin a character without finishing it (RFC 3629, section 3). */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_UNFINISHED, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** Bytes at the beginning that belong to a character that began before them. */
export function leadingRest(bytes: Uint8Array): number {
  const first = bytes.subarray(0, MAX_UNFINISHED).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return first === -1 ? Math.min(MAX_UNFINISHED, bytes.length) : first;
}
