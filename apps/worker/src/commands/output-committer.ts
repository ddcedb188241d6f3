// Puts a command's output into Postgres, offset and bytes in one transaction, at the latest 100 ms or 256 KiB after it came (R12).
import type { OutputCommit, ProcessFence, RunFence, SpoolChunk } from '#domain';
import type { Clock } from '#kernel';
import { COMMIT_BYTES, COMMIT_MS } from './commit-bounds.js';

export interface OutputCommitterParts {
  fence: RunFence & ProcessFence;
  /** Committed offset of the process; its next byte is the first that is pushed. */
  fromOffset: number;
  /** Offset of the process at which the run begins. */
  runStart: number;
  /** Most bytes of the run that are kept. */
  maxOutputBytes: number;
  activeMs: () => number;
  clock: Clock;
  commit: (commit: OutputCommit) => Promise<void>;
  /** Called once, when a commit failed: nothing is committed after it, and `push` and `last` throw its error. */
  failed: () => void;
}

export class OutputCommitter {
  private readonly waiting: SpoolChunk[] = [];
  private waitingBytes = 0;
  private takenOffset: number;
  private timer: NodeJS.Timeout | undefined;
  private lastCommitAt = -Infinity;
  /** Commits one after the other; never rejects. */
  private working: Promise<void> = Promise.resolve();
  private failure: { error: unknown } | undefined;

  constructor(private readonly parts: OutputCommitterParts) {
    this.takenOffset = parts.fromOffset;
  }

  /** Resolves when the next chunk may be read: while commits are slow, little is kept in memory. */
  async push(chunk: SpoolChunk): Promise<void> {
    this.waiting.push(chunk);
    this.waitingBytes += chunk.data.length;
    if (this.waitingBytes >= COMMIT_BYTES) await this.commitWaiting();
    else this.schedule();
    this.throwIfFailed();
  }

  /** Stores how long a silent run has been at work. */
  beat(): void {
    if (this.waitingBytes === 0) this.enqueue();
  }

  /** What is left, for the transaction that finishes the run. */
  async last(): Promise<OutputCommit> {
    clearTimeout(this.timer);
    await this.working;
    this.throwIfFailed();
    return this.take();
  }

  /** Resolves when nothing is under way; what waits stays in the spool. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.working;
  }

  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** The first bytes after a silence go at once; what follows closely is gathered. */
  private schedule(): void {
    if (this.timer !== undefined) return;
    const waitMs = Math.max(0, this.lastCommitAt + COMMIT_MS - this.parts.clock.monotonicMs());
    this.timer = setTimeout(() => void this.commitWaiting(), waitMs);
  }

  private async commitWaiting(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.enqueue();
    await this.working;
  }

  private enqueue(): void {
    this.working = this.working.then(async () => {
      if (this.failure !== undefined) return;
      this.lastCommitAt = this.parts.clock.monotonicMs();
      try {
        await this.parts.commit(this.take());
      } catch (error) {
        this.failure = { error };
        this.parts.failed();
      }
    });
  }

  private take(): OutputCommit {
    const { fence, runStart, maxOutputBytes, activeMs } = this.parts;
    const fromOffset = this.takenOffset;
    this.takenOffset += this.waitingBytes;
    this.waitingBytes = 0;
    return {
      ...fence,
      fromOffset,
      toOffset: this.takenOffset,
      chunks: mergeChunks(this.waiting.splice(0)).map((chunk) => ({ ...chunk, offset: chunk.offset - runStart })),
      maxOutputBytes,
      events: [],
      activeMs: activeMs(),
    };
  }
}

/** Neighbours of one channel become one chunk: fewer rows, the same bytes in the same order. */
export function mergeChunks(chunks: SpoolChunk[]): SpoolChunk[] {
  const groups: { first: SpoolChunk; parts: Uint8Array[] }[] = [];
  for (const chunk of chunks) {
    const group = groups.at(-1);
    if (group?.first.channel === chunk.channel) group.parts.push(chunk.data);
    else groups.push({ first: chunk, parts: [chunk.data] });
  }
  return groups.map(({ first, parts }) => (parts.length === 1 ? first : { ...first, data: Buffer.concat(parts) }));
}
