// The header Range of a request for bytes (RFC 9110, section 14): one range of offsets, against what is stored now.

export interface ByteRange {
  /** Offset of the first byte. */
  first: number;
  /** Offset of the last byte, inclusive. */
  last: number;
}

const ONE_RANGE = /^bytes=(?:(?<first>\d{1,15})-(?<last>\d{0,15})|-(?<suffix>\d{1,15}))$/i;

/**
 * Undefined where the whole is to be sent: no header, or one that is not understood (several ranges, another unit), which RFC 9110 says to
 * ignore. `length`: bytes that are stored.
 */
export function byteRangeOf(header: string | undefined, length: number): ByteRange | 'unsatisfiable' | undefined {
  const parts = ONE_RANGE.exec(header?.replaceAll(' ', '') ?? '')?.groups;
  if (parts === undefined) return undefined;
  const { first = '', last = '', suffix } = parts;
  if (suffix !== undefined) {
    const size = Math.min(Number(suffix), length);
    return size === 0 ? 'unsatisfiable' : { first: length - size, last: length - 1 };
  }
  const range = { first: Number(first), last: last === '' ? length - 1 : Math.min(Number(last), length - 1) };
  if (last !== '' && Number(last) < range.first) return undefined;
  return range.first >= length ? 'unsatisfiable' : range;
}
