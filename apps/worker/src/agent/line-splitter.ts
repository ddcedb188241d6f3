// Cuts the bytes of an agent's stdout into lines and says where each ends in the spool.
import { AppError } from '#kernel';

export interface OutputLine {
  /** Without its newline. */
  text: string;
  /** Offset of the first byte after the newline, counted like the spool does (both channels together). */
  endOffset: number;
}

const NEWLINE = 0x0a;
/**
 * Longer than any message the agent writes, and well below the smallest spool (SANDBOX_SPOOL_MB): a line that does not fit into the spool
 * would never end, and a stream without newlines must not grow the worker without bound.
 */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export class LineSplitter {
  #parts: Uint8Array[] = [];
  #restBytes = 0;

  /** The lines that these bytes complete. `offset` is where the bytes begin in the spool. Throws `agent.protocol`. */
  push(chunk: { offset: number; data: Uint8Array }): OutputLine[] {
    const lines: OutputLine[] = [];
    let from = 0;
    for (;;) {
      const at = chunk.data.indexOf(NEWLINE, from);
      if (at < 0) break;
      lines.push({ text: this.#take(chunk.data.subarray(from, at)), endOffset: chunk.offset + at + 1 });
      from = at + 1;
    }
    this.#keep(chunk.data.subarray(from));
    return lines;
  }

  /** What was written after the last newline. Not empty at the end of a process: it died in the middle of a line. */
  get rest(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#restBytes += bytes.length;
    if (this.#restBytes > MAX_LINE_BYTES)
      throw new AppError('agent.protocol', 'The agent wrote a line without an end.');
    this.#parts.push(bytes);
  }

  #take(last: Uint8Array): string {
    const text = Buffer.concat([...this.#parts, last]).toString('utf8');
    this.#parts = [];
    this.#restBytes = 0;
    return text;
  }
}
