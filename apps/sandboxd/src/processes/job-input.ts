// The stdin of a job: input by key (R8), written in the order it was accepted, each piece whole or not at all.
import { Socket } from 'node:net';
import { AppError } from '#kernel';
import { InputKeys, MAX_INPUT_BYTES } from '#sandbox/wire';

/** Most bytes that wait for a job that does not read; above it input is refused. Two of the largest pieces fit. */
const MAX_WAITING_BYTES = 2 * MAX_INPUT_BYTES;
const RETRY_AFTER_MS = 100;

export class JobInput {
  private readonly keys = new InputKeys();
  private readonly pipe: Socket | null;

  /** `fd`: our end of the job's stdin; null = it has none. */
  constructor(fd: number | null) {
    this.pipe = fd === null ? null : new Socket({ fd, readable: false, writable: true });
    // The job closed its stdin or ended: later input is refused as closed, and what waited has nowhere to go.
    this.pipe?.on('error', () => this.pipe?.destroy());
  }

  get acceptedKeys(): string[] {
    return this.keys.list();
  }

  write(key: string, data: Buffer): { duplicate: boolean } {
    if (this.keys.has(key)) return { duplicate: true };
    if (!this.pipe?.writable) throw new AppError('sandbox.input_closed', 'The process takes no input.');
    if (this.pipe.writableLength + data.length > MAX_WAITING_BYTES) {
      throw new AppError('sandbox.input_full', 'The process does not read its input.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    this.keys.add(key);
    this.pipe.write(data);
    return { duplicate: false };
  }

  /** End of file, after what was accepted. */
  close(): void {
    this.pipe?.end();
  }

  /** The job has ended. */
  discard(): void {
    this.pipe?.destroy();
  }
}
