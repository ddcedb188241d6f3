// What each request of a client does. Knows nothing of sockets: it answers with a result or throws an AppError.
import { AppError } from '#kernel';
import { type InputFrame, type AnsweredOp, type Request, type Result } from '#sandbox/wire';
import type { JobTable } from '../jobs/job-table.js';
import type { MemoryCounters } from '../processes/memory-watch.js';
import type { AttachmentOptions } from './attachment.js';
import type { Job } from '../jobs/job.js';

/** Bytes of JSON of one answer to `list`; the client asks again for the rest. */
const LIST_BYTES = 512 * 1024;

export interface RequestContext {
  attach(job: Job, options: AttachmentOptions): void;
}

export class RequestHandler {
  constructor(
    private readonly jobs: JobTable,
    private readonly readMemory: () => MemoryCounters,
  ) {}

  /** `hello` is the connection's own. */
  async answer(request: Exclude<Request, { op: 'hello' }>, context: RequestContext): Promise<Result<AnsweredOp>> {
    switch (request.op) {
      case 'start': {
        const { job, existed } = await this.jobs.start(request.body);
        return { ...(existed ? this.jobs.describe(job) : job.info(0)), existed };
      }
      case 'info':
        return this.jobs.describe(await this.jobs.get(request.body.processId));
      case 'list':
        return this.list(request.body.after);
      case 'attach': {
        const job = await this.fenced(request.body);
        context.attach(job, request.body);
        return { headOffset: job.spool.head };
      }
      case 'closeInput':
        (await this.fenced(request.body)).closeInput();
        return {};
      case 'signal': {
        const job = await this.fenced(request.body);
        return { delivered: await this.jobs.signal(job, request.body.signal, request.body.scope) };
      }
      case 'acknowledge':
        (await this.fenced(request.body)).acknowledge(request.body.offset);
        return {};
      case 'forget':
        await this.jobs.forget(request.body.processId, request.body.epoch);
        return {};
      case 'memory':
        return this.readMemory();
    }
  }

  async input(frame: InputFrame): Promise<Result<'input'>> {
    return (await this.fenced(frame)).input(frame.key, frame.data);
  }

  private async fenced({ processId, epoch }: { processId: string; epoch: number }): Promise<Job> {
    const job = await this.jobs.get(processId);
    job.fenceOff(epoch);
    return job;
  }

  private list(after: string | null): Result<'list'> {
    const all = this.jobs.describeAll(after);
    let bytes = 0;
    const fitting = all.findIndex((info) => (bytes += JSON.stringify(info).length) > LIST_BYTES);
    const processes = fitting < 0 ? all : all.slice(0, Math.max(1, fitting));
    return { processes, more: processes.length < all.length };
  }
}

/** What a probe, a connection without a host epoch, may ask. */
export const READ_ONLY: ReadonlySet<Request['op']> = new Set(['info', 'list', 'memory']);

export const notForProbes = (): AppError =>
  new AppError('sandbox.protocol', 'A connection without a host epoch may only read.');
