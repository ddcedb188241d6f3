// Client events that steer a run at work.
import { Inject, Injectable } from '@nestjs/common';
import type { RunControl } from '#domain';
import { type ClientData, type ClientRequest, LIMITS } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { PORT } from '../ports.js';
import { toRunInfo } from '../runs/run.wire.js';
import { invalidPayload } from '../transport/payload.js';
import type { EventHandlers } from '../transport/request-context.js';

type Events = 'run_interrupt' | 'run_pause' | 'run_resume' | 'run_input';

@Injectable()
export class RunControlGateway {
  readonly handlers: EventHandlers<Events> = {
    run_interrupt: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.interrupt(runId, user.userId)) }),
    run_pause: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.pause(runId, user.userId)) }),
    run_resume: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.resume(runId, user.userId)) }),
    run_input: (request, { user }) => this.input(request, user.userId),
  };

  constructor(
    @Inject(PORT.control) private readonly control: RunControl,
    private readonly announcer: CommitAnnouncer,
  ) {}

  private async input(request: ClientRequest<'run_input'>, userId: string): Promise<ClientData<'run_input'>> {
    const { run_id: runId, input_seq: inputSeq, eof = false } = request;
    const { duplicate } = this.announcer.announced(
      await this.control.input({ runId, userId, inputSeq, data: bytesOf(request), eof }),
    );
    return { run_id: runId, input_seq: inputSeq, duplicate };
  }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Throws `request.invalid_payload`. */
function bytesOf({ data = '', encoding = 'utf-8' }: ClientRequest<'run_input'>): Uint8Array {
  if (encoding === 'base64' && !BASE64.test(data)) throw invalidPayload([{ path: 'data', message: 'is not base64' }]);
  const bytes = Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8');
  if (bytes.length <= LIMITS.inputBytes) return bytes;
  throw invalidPayload([{ path: 'data', message: `must not exceed ${LIMITS.inputBytes} bytes` }]);
}
