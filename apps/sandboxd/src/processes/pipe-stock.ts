// Real pipes for the standard streams of jobs. Node makes socket pairs, which a job cannot open again as /dev/stderr; a named
// pipe that was opened at both ends and then unlinked is a plain pipe. Names are made some at a time, ahead of need.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, fchownSync, mkdirSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const BATCH = 48;
const REFILL_BELOW = 16;

export interface Pipe {
  /** Our end: does not block. */
  ours: number;
  /** The job's end: blocks, and belongs to the job's user, who may open it again through /proc/self/fd. */
  theirs: number;
}

export interface PipeOwner {
  uid: number;
  gid: number;
}

export class PipeStock {
  private readonly names: string[] = [];
  private made = 0;
  private refilling = false;

  /** `folder`: empty, on a file system that is writable for root alone. */
  constructor(
    private readonly folder: string,
    private readonly owner: PipeOwner,
    private readonly onError: (error: Error) => void,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  /** Makes the first stock. Throws what `mkfifo` says, e.g. ENOENT where the image has none. */
  fill(): void {
    const batch = this.nextBatch();
    const { error, status, stderr } = spawnSync('mkfifo', ['-m', '600', ...batch], { encoding: 'utf8' });
    if (error) throw error;
    if (status !== 0) throw new Error(`mkfifo failed: ${stderr.trim()}`);
    this.names.push(...batch);
  }

  /** A pipe that the job writes. Throws EAGAIN when none is left and none could be made. */
  forOutput(): Pipe {
    return this.open((name) => ({
      ours: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK),
      theirs: openSync(name, constants.O_WRONLY),
    }));
  }

  /** A pipe that the job reads. */
  forInput(): Pipe {
    return this.open((name) => {
      // Opening for writing without waiting needs a reader that is there already.
      const both = openSync(name, constants.O_RDWR | constants.O_NONBLOCK);
      try {
        return {
          ours: openSync(name, constants.O_WRONLY | constants.O_NONBLOCK),
          theirs: openSync(name, constants.O_RDONLY),
        };
      } finally {
        closeSync(both);
      }
    });
  }

  private open(openEnds: (name: string) => Pipe): Pipe {
    const name = this.names.pop();
    if (this.names.length < REFILL_BELOW) this.refill();
    if (name === undefined) throw Object.assign(new Error('No pipe is left.'), { code: 'EAGAIN' });
    try {
      const pipe = openEnds(name);
      fchownSync(pipe.theirs, this.owner.uid, this.owner.gid);
      return pipe;
    } finally {
      unlinkSync(name);
    }
  }

  private refill(): void {
    if (this.refilling) return;
    this.refilling = true;
    const batch = this.nextBatch();
    const child = spawn('mkfifo', ['-m', '600', ...batch], { stdio: 'ignore' });
    child.once('error', (error) => {
      this.refilling = false;
      this.onError(error);
    });
    child.once('exit', () => {
      this.refilling = false;
      const made = new Set(readdirSync(this.folder));
      this.names.push(...batch.filter((name) => made.has(name.slice(this.folder.length + 1))));
    });
  }

  private nextBatch(): string[] {
    return Array.from({ length: BATCH }, () => join(this.folder, String(this.made++)));
  }
}
