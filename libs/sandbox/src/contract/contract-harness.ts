// What an adapter gives the contract suite, and the few words in which the suite speaks to it.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ProcessExit,
  ProcessInfo,
  ProcessOutput,
  SandboxConnection,
  SandboxLimits,
  SandboxRuntime,
  SandboxSpec,
  SpoolChunk,
  StartProcess,
} from '#domain';
import { newId } from '#kernel';

/** Programs that the suite needs, as argv. Standard scripts of the fake say in full what each does. */
export interface ContractCommands {
  echo(text: string): string[];
  exit(code: number): string[];
  cat(): string[];
  /** Prints the text and a newline, then lives until a signal ends it. */
  hang(text: string): string[];
  /** Prints that many bytes of FLOOD_LINE, repeated. */
  flood(bytes: number): string[];
  /** Prints each line of stdin: `err TEXT` to stderr, `out TEXT` to stdout. */
  route(): string[];
  /** Prints `ready`; at SIGTERM `got TERM`, and exits with the code. */
  trap(code: number): string[];
  /** Starts NAME-group, NAME-session (its own session), NAME-orphan (double-forked, own session, empty environment); lives. */
  family(name: string): string[];
  /** Starts NAME-orphan and exits 0. */
  leave(name: string): string[];
  /** Takes memory until the kernel's killer ends it. */
  hog(): string[];
}

export interface ContractHarness {
  runtime: SandboxRuntime;
  commands: ContractCommands;
  /** A sandbox that nobody else has. */
  spec(limits?: Partial<SandboxLimits>): SandboxSpec;
  /** Ends the container as if it had died by itself. */
  crash(sandboxId: string): Promise<void>;
  /** Live processes whose names begin with `name-`, sorted, without that beginning. */
  family(sandboxId: string, name: string): Promise<string[]>;
  /** Whether output that nobody reads lies in this process's memory by design. */
  spoolIsHere: boolean;
  /** How many bytes the exactness test sends through the spool. */
  largeBytes: number;
  stop(): Promise<void>;
}

export const FLOOD_UNIT = '0123456789abcde\n';

/** A sandbox that is up, one connection to it, and short forms of what tests do with it. */
export class ContractSandbox {
  private constructor(
    readonly harness: ContractHarness,
    readonly spec: SandboxSpec,
    readonly connection: SandboxConnection,
  ) {}

  static async start(harness: ContractHarness, limits: Partial<SandboxLimits> = {}): Promise<ContractSandbox> {
    const spec = harness.spec(limits);
    await harness.runtime.ensure(spec);
    return new ContractSandbox(harness, spec, await harness.runtime.connect(spec.sandboxId, { hostEpoch: 1 }));
  }

  async run(argv: string[], changes: Partial<StartProcess> = {}): Promise<ProcessInfo & { existed: boolean }> {
    const request = { processId: newId(), argv, cwd: '/workspace', env: {}, stdin: 'null' as const, epoch: 1 };
    return this.connection.start({ ...request, ...changes });
  }

  async attach(processId: string, fromOffset = 0, epoch = 1): Promise<ProcessOutput> {
    return this.connection.attach(processId, { fromOffset, epoch });
  }

  /** All output from `fromOffset` to the end, and how the process ended. */
  async finish(processId: string, fromOffset = 0): Promise<Finished> {
    const output = await this.attach(processId, fromOffset);
    const chunks: SpoolChunk[] = [];
    for await (const chunk of output) chunks.push(chunk);
    return { chunks, text: textOf(chunks), exit: await output.ended };
  }

  async remove(): Promise<void> {
    this.connection.close();
    await this.harness.runtime.remove(this.spec.sandboxId, { data: true });
  }
}

export interface Finished {
  chunks: SpoolChunk[];
  text: string;
  exit: ProcessExit;
}

export const textOf = (chunks: readonly SpoolChunk[]): string =>
  Buffer.concat(chunks.map(({ data }) => data)).toString('utf8');

/** Reads until the output so far satisfies `enough`, without ending the iteration. */
export async function readUntil(
  iterator: AsyncIterator<SpoolChunk>,
  enough: (chunks: SpoolChunk[]) => boolean,
): Promise<SpoolChunk[]> {
  const chunks: SpoolChunk[] = [];
  while (!enough(chunks)) {
    const next = await iterator.next();
    if (next.done) break;
    chunks.push(next.value);
  }
  return chunks;
}

/** Waits for a condition that nothing announces; the deadline is far above what it takes. */
export async function eventually<T>(look: () => Promise<T>, isMet: (seen: T) => boolean): Promise<T> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const seen = await look();
    if (isMet(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`This was never met; last seen: ${JSON.stringify(seen)}`);
    await sleep(10);
  }
}

/** Checks flood output as it comes: its hash, its length, that offsets are contiguous. */
export class FloodCheck {
  private readonly hash = createHash('sha256');
  private offset: number;

  constructor(private readonly from: number) {
    this.offset = from;
  }

  get bytes(): number {
    return this.offset - this.from;
  }

  take({ offset, channel, data }: SpoolChunk): void {
    if (offset !== this.offset || channel !== 'stdout') throw new Error(`A chunk at ${offset} came at ${this.offset}.`);
    this.hash.update(data);
    this.offset += data.length;
  }

  /** Whether what was taken is exactly what `flood` prints from the start offset on. */
  isExact(): boolean {
    const expected = createHash('sha256');
    const block = Buffer.from(FLOOD_UNIT.repeat(4096));
    for (let at = this.from; at < this.offset;) {
      const skip = at % block.length;
      const piece = block.subarray(skip, Math.min(block.length, skip + this.offset - at));
      expected.update(piece);
      at += piece.length;
    }
    return this.hash.digest('hex') === expected.digest('hex');
  }
}

/** Expects a rejection with this code. */
export const failsWith = async (work: Promise<unknown>, code: string): Promise<void> => {
  await expect(work).rejects.toMatchObject({ code });
};
