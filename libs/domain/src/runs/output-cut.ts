// What a cap leaves of a run's output: its first half and its last half. Pure, so that every sequence of writes can be tried.

/** Offsets that are not kept: from (inclusive) up to (exclusive). */
export interface OutputCut {
  from: number;
  to: number;
}

interface Stretch {
  offset: number;
  data: Uint8Array;
}

/**
 * The cut once a run has written `headOffset` bytes; `before` is the cut so far. What was dropped stays dropped: a cap that is raised in
 * the middle of a run keeps more from then on, one that is lowered keeps half of it as the end.
 */
export function cutAt(headOffset: number, maxBytes: number, before: OutputCut | null): OutputCut | null {
  if (before === null && headOffset <= maxBytes) return null;
  const from = before?.from ?? Math.floor(maxBytes / 2);
  const tail = Math.max(maxBytes - from, Math.ceil(maxBytes / 2));
  return { from, to: Math.max(before?.to ?? from, headOffset - tail) };
}

/** Bytes that are stored of `headOffset` written ones. */
export const keptBytes = (headOffset: number, cut: OutputCut | null): number =>
  cut === null ? headOffset : headOffset - (cut.to - cut.from);

/** The parts of a chunk that are kept, in order; no, one or two of them. */
export function keptParts<C extends Stretch>(chunk: C, cut: OutputCut | null): C[] {
  if (cut === null) return [chunk];
  const end = chunk.offset + chunk.data.byteLength;
  const before = partOf(chunk, chunk.offset, Math.min(end, cut.from));
  const after = partOf(chunk, Math.max(chunk.offset, cut.to), end);
  return [...before, ...after];
}

function partOf<C extends Stretch>(chunk: C, from: number, to: number): C[] {
  if (from >= to) return [];
  const whole = from === chunk.offset && to === chunk.offset + chunk.data.byteLength;
  return [
    whole ? chunk : { ...chunk, offset: from, data: chunk.data.subarray(from - chunk.offset, to - chunk.offset) },
  ];
}
