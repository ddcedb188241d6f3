// A worker's connection to one sandboxd: requests and their answers, input, and the outputs that are attached.
import type { Socket } from 'node:net';
import type {
  KillScope,
  ProcessInfo,
  ProcessOutput,
  ProcessSignal,
  SandboxConnection,
  SpoolChunk,
  StartProcess,
} from '#domain';
import { AppError, toAppError } from '#kernel';
import {
  type AnsweredOp,
  FRAME,
  type Frame,
  FrameDecoder,
  MAX_INPUT_BYTES,
  type Reply,
  type RequestBody,
  type RequestOp,
  type Result,
  WIRE_VERSIONS,
  WireError,
  decodeData,
  encodeNotice,
  encodeRequest,
  frameHeader,
  inputHeader,
  isKey,
  isProcessId,
  parseReply,
  parseResult,
} from '../wire/index.js';
import { OutputStream, WINDOW_BYTES } from './output-stream.js';

/** A supervisor that does not answer for so long is frozen or gone; its connection is given up. */
export const REQUEST_TIMEOUT_MS = 15_000;

export type ClosedCode = 'sandbox.connection_lost' | 'sandbox.epoch_stale' | 'closed';

interface Pending {
  op: AnsweredOp;
  resolve: (result: never) => void;
  reject: (error: AppError) => void;
  deadline: NodeJS.Timeout;
}

export class SandboxdConnection implements SandboxConnection {
  readonly closed: Promise<{ code: ClosedCode }>;
  private resolveClosed: (reason: { code: ClosedCode }) => void = () => undefined;
  private readonly decoder = new FrameDecoder([FRAME.control, FRAME.data]);
  private readonly pending = new Map<number, Pending>();
  private readonly outputs = new Map<number, OutputStream>();
  private lastNumber = 0;
  private over: ClosedCode | null = null;
  private boot = '';

  private constructor(
    readonly sandboxId: string,
    private readonly socket: Socket,
    private readonly timeoutMs: number,
  ) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    // 'close' follows and says the same.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.end('sandbox.connection_lost'));
  }

  /** Says hello on a connected socket. `hostEpoch` null: a probe that may only read. */
  static async greet(
    sandboxId: string,
    socket: Socket,
    hostEpoch: number | null,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<SandboxdConnection> {
    const connection = new SandboxdConnection(sandboxId, socket, timeoutMs);
    try {
      const hello = await connection.request('hello', { wire: WIRE_VERSIONS, hostEpoch });
      connection.boot = hello.bootId;
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  get bootId(): string {
    return this.boot;
  }

  async start(request: StartProcess): Promise<ProcessInfo & { existed: boolean }> {
    return this.request('start', request);
  }

  async info(processId: string): Promise<ProcessInfo> {
    return this.request('info', { processId });
  }

  async list(): Promise<ProcessInfo[]> {
    const all: ProcessInfo[] = [];
    for (let more = true; more;) {
      const page = await this.request('list', { after: all.at(-1)?.processId ?? null });
      all.push(...page.processes);
      more = page.more;
    }
    return all;
  }

  async attach(
    processId: string,
    { fromOffset, epoch }: { fromOffset: number; epoch: number },
  ): Promise<ProcessOutput> {
    const stream = this.nextNumber();
    const output = new OutputStream(fromOffset, {
      credit: (creditUpTo, frames) => this.write(encodeNotice('credit', { stream, creditUpTo, frames })),
      detach: () => {
        this.outputs.delete(stream);
        this.write(encodeNotice('detach', { stream }));
      },
    });
    this.outputs.set(stream, output);
    try {
      await this.request('attach', { processId, stream, fromOffset, creditUpTo: fromOffset + WINDOW_BYTES, epoch });
      return output;
    } catch (error) {
      this.outputs.delete(stream);
      throw error;
    }
  }

  async input(
    processId: string,
    { key, data, epoch }: { key: string; data: Uint8Array; epoch: number },
  ): Promise<{ duplicate: boolean }> {
    if (!isKey(key) || !isProcessId(processId)) throw new WireError('an input has an unusable key or process id');
    if (data.length > MAX_INPUT_BYTES) {
      throw new AppError('request.too_large', 'The input is too large.', { details: { max_bytes: MAX_INPUT_BYTES } });
    }
    return this.answered('input', (request) => {
      const header = inputHeader({ request, epoch, processId, key });
      this.socket.cork();
      this.write(frameHeader(FRAME.input, header.length + data.length));
      this.write(header);
      this.write(data);
      this.socket.uncork();
    });
  }

  async closeInput(processId: string, { epoch }: { epoch: number }): Promise<void> {
    await this.request('closeInput', { processId, epoch });
  }

  async signal(
    processId: string,
    options: { signal: ProcessSignal; scope: KillScope; epoch: number },
  ): Promise<{ delivered: number }> {
    return this.request('signal', { processId, ...options });
  }

  async acknowledge(processId: string, options: { offset: number; epoch: number }): Promise<void> {
    await this.request('acknowledge', { processId, ...options });
  }

  async forget(processId: string, { epoch }: { epoch: number }): Promise<void> {
    await this.request('forget', { processId, epoch });
  }

  async memoryStatus(): Promise<{ oomKills: number; usedBytes: number }> {
    return this.request('memory', {});
  }

  close(): void {
    this.end('closed');
  }

  private request<Op extends RequestOp>(op: Op, body: RequestBody<Op>): Promise<Result<Op>> {
    return this.answered(op, (n) => this.write(encodeRequest(n, op, body)));
  }

  private async answered<Op extends AnsweredOp>(op: Op, send: (n: number) => void): Promise<Result<Op>> {
    if (this.over) throw connectionError(this.over);
    const n = this.nextNumber();
    return new Promise<Result<Op>>((resolve, reject) => {
      const deadline = setTimeout(() => this.end('sandbox.connection_lost'), this.timeoutMs);
      this.pending.set(n, { op, resolve, reject, deadline });
      try {
        send(n);
      } catch (error) {
        // What cannot be encoded was never sent; the connection is as good as before.
        this.settle(n)?.reject(toAppError(error));
      }
    });
  }

  private nextNumber(): number {
    this.lastNumber = (this.lastNumber % 0xffff_ffff) + 1;
    return this.lastNumber;
  }

  private write(bytes: Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    try {
      for (const frame of this.decoder.push(chunk)) this.handle(frame);
    } catch (error) {
      for (const n of [...this.pending.keys()]) this.settle(n)?.reject(toAppError(error));
      this.end('sandbox.connection_lost');
    }
  }

  private handle(frame: Frame): void {
    if (frame.type === FRAME.data) {
      const { stream, ...chunk } = decodeData(frame.payload);
      // What was under way when the reader closed is dropped here.
      this.outputs.get(stream)?.push(chunk satisfies SpoolChunk);
      return;
    }
    this.handleReply(parseReply(frame.payload));
  }

  private handleReply(reply: Reply): void {
    switch (reply.kind) {
      case 'result':
        this.resolveRequest(reply.re, reply.result);
        return;
      case 'error':
        this.settle(reply.re)?.reject(reply.error);
        return;
      case 'end':
        this.takeOutput(reply.stream)?.finish(reply.exit);
        return;
      case 'detached':
        this.takeOutput(reply.stream)?.fail(reply.error);
        return;
      case 'bye':
        this.end(reply.code === 'sandbox.epoch_stale' ? 'sandbox.epoch_stale' : 'sandbox.connection_lost');
    }
  }

  private resolveRequest(n: number, result: unknown): void {
    const pending = this.settle(n);
    if (!pending) return;
    try {
      pending.resolve(parseResult(pending.op, result) as never);
    } catch (error) {
      pending.reject(toAppError(error));
      throw error;
    }
  }

  private settle(n: number): Pending | undefined {
    const pending = this.pending.get(n);
    if (pending) clearTimeout(pending.deadline);
    this.pending.delete(n);
    return pending;
  }

  private takeOutput(stream: number): OutputStream | undefined {
    const output = this.outputs.get(stream);
    this.outputs.delete(stream);
    return output;
  }

  private end(code: ClosedCode): void {
    if (this.over) return;
    this.over = code;
    for (const n of [...this.pending.keys()]) this.settle(n)?.reject(connectionError(code));
    for (const output of this.outputs.values()) output.fail(connectionError(code));
    this.outputs.clear();
    this.socket.destroy();
    this.resolveClosed({ code });
  }
}

function connectionError(code: ClosedCode): AppError {
  return code === 'sandbox.epoch_stale'
    ? new AppError(code, 'A worker with a newer epoch has taken over this sandbox.')
    : new AppError('sandbox.connection_lost', 'The connection to the sandbox is over.');
}
