// One client: its hello, its requests in, its frames out. Anything it sends that breaks the wire ends it.
import type { Socket } from 'node:net';
import { AppError, isAppError } from '#kernel';
import {
  type AnsweredOp,
  type ByeCode,
  FRAME,
  type Frame,
  FrameDecoder,
  type InputFrame,
  type Notice,
  type Request,
  type Result,
  WIRE_VERSIONS,
  WireError,
  commonWireVersion,
  decodeInput,
  encodeBye,
  encodeError,
  encodeResult,
  parseRequest,
} from '#sandbox/wire';
import type { Job } from '../jobs/job.js';
import { Attachment, type AttachmentOptions } from './attachment.js';
import { FrameSink } from './frame-sink.js';
import type { HostFence } from './host-fence.js';
import { READ_ONLY, type RequestHandler, notForProbes } from './request-handler.js';

const HELLO_DEADLINE_MS = 5000;

export interface ConnectionOptions {
  bootId: string;
  handler: RequestHandler;
  fence: HostFence;
  /** A higher host epoch than any before was said: lower ones must go. */
  onNewHostEpoch: (hostEpoch: number) => void;
  log: (event: string, facts: Record<string, unknown>) => void;
}

type State =
  | { phase: 'greeting'; deadline: NodeJS.Timeout }
  /** `hostEpoch` null: a probe. */
  | { phase: 'open'; hostEpoch: number | null }
  | { phase: 'closed' };

export class ClientConnection {
  private readonly decoder = new FrameDecoder([FRAME.control, FRAME.input]);
  private readonly sink: FrameSink;
  private readonly attachments = new Map<number, Attachment>();
  private state: State;

  constructor(
    private readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.sink = new FrameSink(socket);
    this.state = { phase: 'greeting', deadline: setTimeout(() => this.end('sandbox.protocol'), HELLO_DEADLINE_MS) };
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('drain', () => this.drained());
    socket.on('error', (error) => options.log('client_error', { message: error.message }));
    socket.once('close', () => this.closed());
  }

  get hostEpoch(): number | null {
    return this.state.phase === 'open' ? this.state.hostEpoch : null;
  }

  /** Says why, and closes. */
  end(code: ByeCode): void {
    if (this.state.phase === 'closed') return;
    this.sink.send(encodeBye(code));
    this.closed();
    this.socket.end();
    // The farewell needs no reader on the other side to be done with.
    setTimeout(() => this.socket.destroy(), 1000).unref();
  }

  private closed(): void {
    if (this.state.phase === 'greeting') clearTimeout(this.state.deadline);
    this.state = { phase: 'closed' };
    for (const attachment of this.attachments.values()) attachment.close();
  }

  private receive(chunk: Buffer): void {
    if (this.state.phase === 'closed') return;
    try {
      for (const frame of this.decoder.push(chunk)) this.handle(frame);
    } catch (error) {
      this.options.log('wire_broken', { message: error instanceof WireError ? error.message : String(error) });
      this.end('sandbox.protocol');
    }
    // A client that asks but does not read its answers is not read either.
    if (!this.sink.isWritable) this.socket.pause();
  }

  private drained(): void {
    this.socket.resume();
    for (const attachment of this.attachments.values()) attachment.pump();
  }

  private handle(frame: Frame): void {
    if (this.state.phase === 'closed') return;
    if (frame.type === FRAME.input) return this.handleInput(decodeInput(frame.payload));
    const message = parseRequest(frame.payload);
    if (message.n === null) return this.handleNotice(message);
    if (message.op === 'hello') return this.greet(message);
    if (this.state.phase !== 'open') throw new WireError('the first frame is not hello');
    const request = message;
    const allowed = this.state.hostEpoch !== null || READ_ONLY.has(request.op);
    this.reply(request.n, async () => {
      if (!allowed) throw notForProbes();
      return this.options.handler.answer(request, { attach: (job, how) => this.attach(job, how) });
    });
  }

  private greet({ n, body }: Extract<Request, { op: 'hello' }>): void {
    if (this.state.phase !== 'greeting') throw new WireError('hello was said twice');
    clearTimeout(this.state.deadline);
    const wire = commonWireVersion(body.wire);
    if (wire === null) {
      const unsupported = new AppError('sandbox.protocol', 'No common version of the wire.', {
        details: { ...WIRE_VERSIONS },
      });
      this.sink.send(encodeError(n, unsupported));
      return this.end('sandbox.protocol');
    }
    const { fence, bootId } = this.options;
    try {
      const raised = body.hostEpoch !== null && fence.pass(body.hostEpoch);
      this.state = { phase: 'open', hostEpoch: body.hostEpoch };
      if (raised) this.options.onNewHostEpoch(fence.current);
      this.sink.send(encodeResult(n, { wire, bootId, hostEpoch: fence.current } satisfies Result<'hello'>));
    } catch (error) {
      if (!isAppError(error)) throw error;
      this.sink.send(encodeError(n, error));
      this.end('sandbox.epoch_stale');
    }
  }

  private handleNotice(notice: Notice): void {
    const attachment = this.attachments.get(notice.body.stream);
    // An attachment that ended crosses its client's last words.
    if (!attachment) return;
    if (notice.op === 'credit') attachment.credit(notice.body.creditUpTo, notice.body.frames);
    else attachment.close();
  }

  private handleInput(frame: InputFrame): void {
    if (this.state.phase !== 'open') throw new WireError('the first frame is not hello');
    const allowed = this.state.hostEpoch !== null;
    this.reply(frame.request, async () => {
      if (!allowed) throw notForProbes();
      return this.options.handler.input(frame);
    });
  }

  private attach(job: Job, options: AttachmentOptions): void {
    const { stream } = options;
    // It went while its request was on the way: nobody would ever end what it asked for.
    if (this.state.phase === 'closed') throw new AppError('sandbox.connection_lost', 'The client has gone.');
    if (this.attachments.has(stream)) throw new AppError('sandbox.protocol', 'That stream number is in use.');
    const attachment = new Attachment(job, this.sink, options, () => this.attachments.delete(stream));
    this.attachments.set(stream, attachment);
    job.attach(attachment);
    // After the answer, so that the client knows the stream before its first frame.
    setImmediate(() => attachment.pump());
  }

  /** Answers once; an error that is not ours is told as `internal.unexpected` and logged. */
  private reply(n: number, work: () => Promise<Result<AnsweredOp>>): void {
    work().then(
      (result) => this.sink.send(encodeResult(n, result)),
      (error: unknown) => {
        if (!isAppError(error)) this.options.log('request_failed', { error: String(error) });
        const told = isAppError(error)
          ? error
          : new AppError('internal.unexpected', 'sandboxd failed.', { cause: error });
        this.sink.send(encodeError(n, told));
      },
    );
  }
}
