// A connection to a fake sandbox: the same fences and errors as over the wire, without one.
import type {
  KillScope,
  ProcessExit,
  ProcessInfo,
  ProcessOutput,
  ProcessSignal,
  SandboxConnection,
  SpoolChunk,
  StartProcess,
} from '#domain';
import { AppError } from '#kernel';
import { staleEpoch } from '../wire/index.js';
import type { FakeProcess } from './fake-process.js';

/** The sandbox as its connections see it. */
export interface ConnectedSandbox {
  readonly sandboxId: string;
  readonly bootId: string;
  readonly oomKills: number;
  readonly processes: Map<string, FakeProcess>;
  start(request: StartProcess): ProcessInfo & { existed: boolean };
  disconnected(connection: FakeConnection): void;
}

type ClosedCode = 'sandbox.connection_lost' | 'sandbox.epoch_stale' | 'closed';

export class FakeConnection implements SandboxConnection {
  readonly closed: Promise<{ code: ClosedCode }>;
  readonly sandboxId: string;
  readonly bootId: string;
  private resolveClosed: (reason: { code: ClosedCode }) => void = () => undefined;
  private over: ClosedCode | null = null;
  private readonly outputs = new Set<FakeOutput>();

  constructor(
    private readonly sandbox: ConnectedSandbox,
    readonly hostEpoch: number,
  ) {
    this.sandboxId = sandbox.sandboxId;
    this.bootId = sandbox.bootId;
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
  }

  async start(request: StartProcess): Promise<ProcessInfo & { existed: boolean }> {
    this.check();
    return this.sandbox.start(request);
  }

  async info(processId: string): Promise<ProcessInfo> {
    return this.process(processId).info();
  }

  async list(): Promise<ProcessInfo[]> {
    this.check();
    const processes = [...this.sandbox.processes.values()].map((process) => process.info());
    return processes.sort((a, b) => (a.processId < b.processId ? -1 : 1));
  }

  async attach(
    processId: string,
    { fromOffset, epoch }: { fromOffset: number; epoch: number },
  ): Promise<ProcessOutput> {
    const process = this.fenced(processId, epoch);
    process.spool.checkOffset(fromOffset);
    const output = new FakeOutput(process, fromOffset, epoch, () => this.outputs.delete(output));
    this.outputs.add(output);
    return output;
  }

  async input(
    processId: string,
    { key, data, epoch }: { key: string; data: Uint8Array; epoch: number },
  ): Promise<{ duplicate: boolean }> {
    return this.fenced(processId, epoch).input(key, data);
  }

  async closeInput(processId: string, { epoch }: { epoch: number }): Promise<void> {
    this.fenced(processId, epoch).closeInput();
  }

  async signal(
    processId: string,
    { signal, scope, epoch }: { signal: ProcessSignal; scope: KillScope; epoch: number },
  ): Promise<{ delivered: number }> {
    return { delivered: this.fenced(processId, epoch).signal(signal, scope) };
  }

  async acknowledge(processId: string, { offset, epoch }: { offset: number; epoch: number }): Promise<void> {
    this.fenced(processId, epoch).spool.acknowledge(offset);
  }

  async forget(processId: string, { epoch }: { epoch: number }): Promise<void> {
    this.check();
    if (!this.sandbox.processes.has(processId)) return;
    if (!this.fenced(processId, epoch).exit)
      throw new AppError('sandbox.process_running', 'The process has not ended.');
    this.sandbox.processes.delete(processId);
  }

  async memoryStatus(): Promise<{ oomKills: number; usedBytes: number }> {
    this.check();
    return { oomKills: this.sandbox.oomKills, usedBytes: 0 };
  }

  close(): void {
    this.end('closed');
  }

  end(code: ClosedCode): void {
    if (this.over) return;
    this.over = code;
    for (const output of this.outputs) output.fail(connectionError(code));
    this.sandbox.disconnected(this);
    this.resolveClosed({ code });
  }

  private check(): void {
    if (this.over) throw connectionError(this.over);
  }

  private process(processId: string): FakeProcess {
    this.check();
    const process = this.sandbox.processes.get(processId);
    if (!process) throw new AppError('sandbox.process_not_found', 'There is no such process in this sandbox.');
    return process;
  }

  private fenced(processId: string, epoch: number): FakeProcess {
    const process = this.process(processId);
    process.fence.pass(epoch);
    process.spool.notify();
    return process;
  }
}

function connectionError(code: ClosedCode): AppError {
  return code === 'sandbox.epoch_stale'
    ? new AppError(code, 'A worker with a newer epoch has taken over this sandbox.')
    : new AppError('sandbox.connection_lost', 'The connection to the sandbox is over.');
}

/** Reads the spool as it is pulled; nothing waits in between. */
class FakeOutput implements ProcessOutput {
  readonly ended: Promise<ProcessExit>;
  private settle: { resolve: (exit: ProcessExit) => void; reject: (error: AppError) => void } | null = null;
  private failure: AppError | null = null;
  private closedByReader = false;

  constructor(
    private readonly process: FakeProcess,
    private offset: number,
    private readonly epoch: number,
    private readonly onOver: () => void,
  ) {
    this.ended = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    // A reader that only iterates sees the same error there.
    this.ended.catch(() => undefined);
    void this.watch();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SpoolChunk> {
    try {
      while (!this.closedByReader) {
        if (this.failure) throw this.failure;
        const chunk = this.process.spool.read(this.offset);
        if (chunk) {
          this.offset += chunk.data.length;
          yield chunk;
        } else if (this.process.exit) {
          return this.settle?.resolve(this.process.exit);
        } else {
          await this.process.spool.change();
        }
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    this.closedByReader = true;
    this.onOver();
    this.process.spool.notify();
  }

  fail(error: AppError): void {
    if (this.closedByReader) return;
    this.failure ??= error;
    this.settle?.reject(error);
    this.onOver();
    this.process.spool.notify();
  }

  /** Sees a takeover although nobody may be reading; and the end, where there is nothing left to read. */
  private async watch(): Promise<void> {
    while (!this.closedByReader && !this.failure) {
      if (this.process.fence.current > this.epoch) this.fail(staleEpoch(this.epoch, this.process.fence.current));
      else if (this.process.exit && this.offset >= this.process.spool.head)
        return this.settle?.resolve(this.process.exit);
      else await this.process.spool.change();
    }
  }
}
