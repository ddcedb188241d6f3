// A client's own limit on the size of a message: longer texts are cut in the middle, with a marker of what is missing.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Below this a text is not cut any further: a message made of so many small parts is emptied instead. */
const SMALLEST_TEXT = 64;

export const byteLength = (text: string): number => Buffer.byteLength(text);
/** Size of the value's JSON. */
export const jsonBytes = (value: unknown): number => byteLength(JSON.stringify(value));

/** First byte of a UTF-8 character; the others are 10xxxxxx. */
const startsCharacter = (byte: number | undefined): boolean => byte === undefined || (byte & 0xc0) !== 0x80;

/** At most `maxBytes` of UTF-8 of head and tail, never cut inside a character, and a marker between them. */
export function cutMiddle(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = encoder.encode(text);
  let head = Math.ceil(maxBytes / 2);
  while (!startsCharacter(bytes[head])) head -= 1;
  let tail = bytes.length - Math.floor(maxBytes / 2);
  while (!startsCharacter(bytes[tail])) tail += 1;
  const missing = tail - head;
  return `${decoder.decode(bytes.subarray(0, head))}\n[… ${missing} bytes missing …]\n${decoder.decode(bytes.subarray(tail))}`;
}

/**
 * The value with its texts cut so that its JSON has at most about `maxBytes` bytes. It is the same object when nothing had to be cut.
 * What is too large even so becomes `{omitted_bytes}`.
 */
export function limitTexts(value: Record<string, unknown>, maxBytes: number): Record<string, unknown> {
  const bytes = jsonBytes(value);
  if (bytes <= maxBytes) return value;
  for (let longest = maxBytes; longest >= SMALLEST_TEXT; longest = Math.floor(longest / 2)) {
    const cut = cutTexts(value, longest) as Record<string, unknown>;
    if (jsonBytes(cut) <= maxBytes) return cut;
  }
  return { omitted_bytes: bytes };
}

function cutTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return cutMiddle(value, longest);
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutTexts(inner, longest)]));
}
