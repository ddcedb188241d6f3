// Stored output of a command as text: whole characters only, so that the next page begins where this one ends.
import type { OutputHead, OutputStore, RunRecord } from '#domain';
import { AppError } from '#kernel';
import type { ClientData, OutputGap } from '#protocol';
import { commandSessionId, shellCommandOf } from '../runs/run.wire.js';
import { WORKSPACE } from '../runs/working-directory.js';
import { leadingRest, MAX_UNFINISHED, unfinishedBytes } from './utf8-edges.js';

type Answer = ClientData<'get_command_output'>;

interface Stretch {
  bytes: Buffer;
  /** Stored bytes end here although more were written: what follows is not kept. */
  hole: boolean;
}

/** Reads neighbouring bytes until `maxBytes`, a hole or the head; the store gives a bounded number of them at a time. */
async function readStretch(outputs: OutputStore, head: OutputHead, from: number, maxBytes: number): Promise<Stretch> {
  const parts: Uint8Array[] = [];
  const end = Math.min(from + maxBytes, head.headOffset);
  let next = from;
  while (next < end) {
    const chunks = await outputs.read(head.runId, next, end - next);
    for (const { offset, data } of chunks) {
      if (offset !== next) return { bytes: Buffer.concat(parts), hole: true };
      parts.push(data);
      next += data.byteLength;
    }
    if (chunks.length === 0) return { bytes: Buffer.concat(parts), hole: true };
  }
  const hole = next < head.headOffset && (await outputs.nextStored(head.runId, next)) !== next;
  return { bytes: Buffer.concat(parts), hole };
}

export interface OutputRange {
  fromOffset: number;
  maxBytes: number;
}

type Page = Pick<Answer, 'output' | 'next_offset' | 'is_complete'> & { gap?: OutputGap };

/**
 * A page holds one stretch of stored bytes; before it, if it begins in a hole, a marker. Pages join to all that is stored, whole characters
 * only: those that a hole cuts in two count as left out. Throws `run.not_found` for a run that is no command, `stream.offset_invalid` for an
 * offset beyond the output.
 */
export async function readCommandOutput(outputs: OutputStore, run: RunRecord, range: OutputRange): Promise<Answer> {
  const head = await outputs.head(run.runId);
  if (head === undefined) throw new AppError('run.not_found', 'There is no such command.');
  if (range.fromOffset > head.headOffset) {
    throw new AppError('stream.offset_invalid', 'The output does not reach that far.', {
      details: { head_offset: head.headOffset },
    });
  }
  const stretch = await readStretch(outputs, head, range.fromOffset, range.maxBytes);
  const unfinished = unfinishedBytes(stretch.bytes);
  const onlyHole = stretch.hole && unfinished === stretch.bytes.length;
  return describe(
    run,
    head,
    onlyHole ? await pageAfterGap(outputs, head, range) : pageOf(head, range.fromOffset, stretch),
  );
}

/** `gotOn`: the page has something without these bytes. A character that a hole or the end of the output cuts is left out or shown as it is; any other waits for the next page. */
function pageOf(head: OutputHead, from: number, { bytes, hole }: Stretch, gotOn = false): Page {
  const end = from + bytes.length;
  const atEnd = head.ended && end >= head.headOffset;
  const unfinished = atEnd ? 0 : unfinishedBytes(bytes);
  // An unfinished character waits for the next page, unless a page is too small for any character.
  const tooSmall = unfinished === bytes.length && end < head.headOffset && !hole && !gotOn;
  const length = tooSmall ? bytes.length : bytes.length - unfinished;
  return {
    output: bytes.subarray(0, length).toString('utf8'),
    next_offset: from + length,
    is_complete: atEnd,
  };
}

async function pageAfterGap(
  outputs: OutputStore,
  head: OutputHead,
  { fromOffset, maxBytes }: OutputRange,
): Promise<Page> {
  const stored = (await nextAfterHole(outputs, head, fromOffset)) ?? head.headOffset;
  const { bytes, hole } = await readStretch(outputs, head, stored, Math.max(maxBytes, MAX_UNFINISHED + 1));
  const skipped = leadingRest(bytes);
  const gap = gapOf(head, { from: fromOffset, to: stored + skipped });
  const page = pageOf(head, gap.to_offset, { bytes: bytes.subarray(skipped), hole }, true);
  return { ...page, output: `${gapMarker(gap)}${page.output}`, gap };
}

/** `from` is in a hole, or so few bytes before it that they are no character. */
async function nextAfterHole(outputs: OutputStore, head: OutputHead, from: number): Promise<number | undefined> {
  const { bytes } = await readStretch(outputs, head, from, MAX_UNFINISHED + 1);
  return outputs.nextStored(head.runId, from + bytes.length);
}

export const gapOf = (head: OutputHead, { from, to }: { from: number; to: number }): OutputGap => ({
  from_offset: from,
  to_offset: to,
  reason: head.expiredAt === null ? 'cut' : 'expired',
});

/** What a reader of text sees in place of bytes that are not kept. */
export const gapMarker = ({ from_offset: from, to_offset: to, reason }: OutputGap): string =>
  `\n[… ${to - from} bytes left out${reason === 'expired' ? ': the output has expired' : ''} …]\n`;

const describe = (run: RunRecord, head: OutputHead, page: Page): Answer => ({
  ...page,
  ...(head.exitCode === null ? {} : { exit_code: head.exitCode }),
  ...commandFacts(run),
});

const commandFacts = (run: RunRecord) => ({
  ...(run.durationMs === null ? {} : { duration_ms: run.durationMs }),
  ...(run.commandId === null ? {} : { command_id: run.commandId }),
  timestamp: (run.startedAt ?? run.queuedAt).toISOString(),
  shell_command: shellCommandOf(run),
  working_directory: run.workingDir ?? WORKSPACE,
});

/** One entry of the command history. */
export const toCommandSession = (
  run: RunRecord,
  preview: string,
): ClientData<'get_command_history'>['sessions'][number] => ({
  command_session_id: commandSessionId(run.runId),
  run_id: run.runId,
  ...commandFacts(run),
  status: run.status,
  ...(run.exitCode === null ? {} : { exit_code: run.exitCode }),
  output_preview: preview,
  is_complete: run.finishedAt !== null,
});
