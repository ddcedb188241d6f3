// What is kept of a command's output: one or two stretches of offsets, and their bytes read in pieces.
import type { OutputCut, OutputHead, OutputStore } from '#domain';
import { AppError } from '#kernel';
import { type ByteRange, byteRangeOf } from './byte-range.js';

/** Bytes of one read of the store. */
const PIECE_BYTES = 256 * 1024;

export interface OutputPlan {
  status: 200 | 206;
  /** What to send, in order; without empty ones. */
  stretches: ByteRange[];
  contentLength: number;
  headers: Record<string, string>;
}

const lengthOf = ({ first, last }: ByteRange): number => last - first + 1;

/** Offsets that are stored, around what a cap dropped. */
export function storedStretches(headOffset: number, cut: OutputCut | null): ByteRange[] {
  const all = cut === null ? [{ first: 0, last: headOffset - 1 }] : around(headOffset, cut);
  return all.filter((stretch) => lengthOf(stretch) > 0);
}

const around = (headOffset: number, { from, to }: { from: number; to: number }): ByteRange[] => [
  { first: 0, last: Math.min(from, headOffset) - 1 },
  { first: to, last: headOffset - 1 },
];

/** A strong validator: an output that is over does not change any more. While it grows there is none. */
export const etagOf = ({ runId, headOffset, ended, cut }: OutputHead): string | undefined =>
  ended ? `"${runId}-${headOffset}${cut === null ? '' : `-${cut.from}-${cut.to}`}"` : undefined;

/**
 * How a request for output is answered. Throws `stream.expired`, and `request.range_not_satisfiable` whose details are
 * `{ head_offset, missing? }`.
 */
export function planOutput(
  head: OutputHead,
  asked: { range: string | undefined; ifRange: string | undefined },
): OutputPlan {
  if (head.expiredAt !== null) {
    throw new AppError('stream.expired', 'The output has expired.', {
      details: { expired_at: head.expiredAt.toISOString() },
    });
  }
  const { cut } = head;
  const etag = etagOf(head);
  const headers = {
    'accept-ranges': 'bytes',
    ...(etag === undefined ? {} : { etag }),
    ...(cut === null ? {} : { 'gantry-missing-bytes': `${cut.from}-${cut.to}` }),
  };
  const stretches = storedStretches(head.headOffset, cut);
  const honoured = asked.ifRange === undefined || asked.ifRange === etag;
  const range = honoured ? byteRangeOf(asked.range, head.headOffset) : undefined;
  if (range === undefined) {
    return { status: 200, stretches, contentLength: stretches.reduce((sum, each) => sum + lengthOf(each), 0), headers };
  }
  const total = head.ended ? String(head.headOffset) : '*';
  const stretch = range === 'unsatisfiable' ? undefined : stretches.find((each) => includes(each, range.first));
  if (range === 'unsatisfiable' || stretch === undefined) throw unsatisfiable(head);
  const sent = { first: range.first, last: Math.min(range.last, stretch.last) };
  return {
    status: 206,
    stretches: [sent],
    contentLength: lengthOf(sent),
    headers: { ...headers, 'content-range': `bytes ${sent.first}-${sent.last}/${total}` },
  };
}

const includes = ({ first, last }: ByteRange, offset: number): boolean => first <= offset && offset <= last;

const unsatisfiable = ({ headOffset, cut }: OutputHead): AppError =>
  new AppError('request.range_not_satisfiable', 'No stored byte lies in this range.', {
    details: { head_offset: headOffset, ...(cut === null ? {} : { missing: cut }) },
  });

/** The bytes of a stretch. Throws `stream.expired` when some are deleted meanwhile. */
export async function* readStretch(
  outputs: Pick<OutputStore, 'read'>,
  runId: string,
  { first, last }: ByteRange,
): AsyncGenerator<Uint8Array> {
  let next = first;
  while (next <= last) {
    const chunks = await outputs.read(runId, next, Math.min(PIECE_BYTES, last + 1 - next));
    if (chunks.length === 0) throw deletedMeanwhile();
    for (const { offset, data } of chunks) {
      if (offset !== next) throw deletedMeanwhile();
      next += data.byteLength;
      yield data;
    }
  }
}

const deletedMeanwhile = (): AppError => new AppError('stream.expired', 'A part of the output was deleted meanwhile.');
