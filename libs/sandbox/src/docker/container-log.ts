// The log of a container without a terminal: the engine sends frames of stdout and stderr (Docker Engine API, "Stream format").
const HEADER_BYTES = 8;

/** Both streams as one text, in order; a cut frame at the end is taken as far as it goes. */
export function logText(frames: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= frames.length;) {
    const end = at + HEADER_BYTES + frames.readUInt32BE(at + 4);
    parts.push(frames.subarray(at + HEADER_BYTES, end));
    at = end;
  }
  return Buffer.concat(parts).toString('utf8');
}
