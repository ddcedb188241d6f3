// Stored output of a command as text: whole characters only, so that the next page begins where this one ends.
import type { OutputChunkRecord, OutputHead, OutputStore, RunRecord } from '#domain';
import { AppError } from '#kernel';
import type { ClientData } from '#protocol';
import { commandSessionId, shellCommandOf } from '../runs/run.wire.js';
import { WORKSPACE } from '../runs/working-directory.js';

type Answer = ClientData<'get_command_output'>;

/** A UTF-8 character has at most four bytes, so at most three of an unfinished one can be at the end. */
const MAX_UNFINISHED = 3;

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

/** Reads chunks until `maxBytes` or the head; the store gives a bounded number of them at a time. */
async function readBytes(outputs: OutputStore, runId: string, from: number, maxBytes: number): Promise<Uint8Array[]> {
  const parts: OutputChunkRecord[] = [];
  let next = from;
  for (;;) {
    const chunks = next < from + maxBytes ? await outputs.read(runId, next, from + maxBytes - next) : [];
    const last = chunks.at(-1);
    if (last === undefined) return parts.map(({ data }) => data);
    parts.push(...chunks);
    next = last.offset + last.data.byteLength;
  }
}

export interface OutputRange {
  fromOffset: number;
  maxBytes: number;
}

/** Throws `run.not_found` for a run that is no command, `stream.offset_invalid` for an offset beyond the output. */
export async function readCommandOutput(outputs: OutputStore, run: RunRecord, range: OutputRange): Promise<Answer> {
  const head = await outputs.head(run.runId);
  if (head === undefined) throw new AppError('run.not_found', 'There is no such command.');
  if (range.fromOffset > head.headOffset) {
    throw new AppError('stream.offset_invalid', 'The output does not reach that far.', {
      details: { head_offset: head.headOffset },
    });
  }
  const bytes = Buffer.concat(await readBytes(outputs, run.runId, range.fromOffset, range.maxBytes));
  const end = range.fromOffset + bytes.length;
  const atEnd = head.ended && end >= head.headOffset;
  const unfinished = atEnd ? 0 : unfinishedBytes(bytes);
  // An unfinished character waits for the next page, unless a page is too small for any character.
  const length = unfinished === bytes.length && end < head.headOffset ? bytes.length : bytes.length - unfinished;
  return describe(run, head, {
    output: bytes.subarray(0, length).toString('utf8'),
    next_offset: range.fromOffset + length,
    is_complete: atEnd,
  });
}

const describe = (
  run: RunRecord,
  head: OutputHead,
  page: Pick<Answer, 'output' | 'next_offset' | 'is_complete'>,
): Answer => ({
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
