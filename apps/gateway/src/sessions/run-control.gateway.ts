// Client events that steer a run at work.
import { Inject, Injectable } from '@nestjs/common';
import type { RunControl } from '#domain';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { PORT } from '../ports.js';
import { toRunInfo } from '../runs/run.wire.js';
import type { EventHandlers } from '../transport/request-context.js';

type Events = 'run_interrupt' | 'run_pause' | 'run_resume';

@Injectable()
export class RunControlGateway {
  readonly handlers: EventHandlers<Events> = {
    run_interrupt: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.interrupt(runId, user.userId)) }),
    run_pause: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.pause(runId, user.userId)) }),
    run_resume: async ({ run_id: runId }, { user }) =>
      toRunInfo({ run: this.announcer.announced(await this.control.resume(runId, user.userId)) }),
  };

  constructor(
    @Inject(PORT.control) private readonly control: RunControl,
    private readonly announcer: CommitAnnouncer,
  ) {}
}
