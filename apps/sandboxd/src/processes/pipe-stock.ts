// Real pipes for the standard streams of jobs. Node makes socket pairs, which a job cannot open again as /dev/stderr; a named
// pipe that was opened at both ends and then unlinked is a plain pipe. Names are made some at a time, ahead of need.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, fchownSync, mkdirSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

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
  private nextName = 0;
  private made = 0;
  private refill: Promise<void> | null = null;

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

  /** Takes so many pipes out of the stock, by name; waits while more are made. Throws EAGAIN when no more can be made. */
  async take(count: 2 | 3): Promise<[string, string, string?]> {
    while (this.names.length < count) {
      const before = this.made;
      await this.refilled();
      if (this.names.length < count && this.made === before) throw outOfPipes();
    }
    const taken = this.names.splice(-count) as [string, string, string?];
    if (this.names.length < REFILL_BELOW) void this.refilled();
    return taken;
  }

  /** Opens a taken pipe that the job will write; its name is gone afterwards. */
  openForOutput(name: string): Pipe {
    return this.open(name, () => ({
      ours: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK),
      theirs: openSync(name, constants.O_WRONLY),
    }));
  }

  /** Opens a taken pipe that the job will read. */
  openForInput(name: string): Pipe {
    return this.open(name, () => {
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

  private open(name: string, openEnds: () => Pipe): Pipe {
    try {
      const pipe = openEnds();
      fchownSync(pipe.theirs, this.owner.uid, this.owner.gid);
      return pipe;
    } finally {
      unlinkSync(name);
    }
  }

  /** Ends when a batch was made, or could not be. */
  private async refilled(): Promise<void> {
    this.refill ??= this.makeBatch().finally(() => (this.refill = null));
    return this.refill;
  }

  private async makeBatch(): Promise<void> {
    const batch = this.nextBatch();
    const child = spawn('mkfifo', ['-m', '600', ...batch], { stdio: 'ignore' });
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', (error) => {
        this.onError(error);
        resolve();
      });
    });
    const there = new Set(readdirSync(this.folder));
    const fresh = batch.filter((name) => there.has(basename(name)));
    this.made += fresh.length;
    this.names.push(...fresh);
  }

  private nextBatch(): string[] {
    return Array.from({ length: BATCH }, () => join(this.folder, String(this.nextName++)));
  }
}

const outOfPipes = (): Error => Object.assign(new Error('No pipe can be made.'), { code: 'EAGAIN' });
