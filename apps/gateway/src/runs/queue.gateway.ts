// Client events that change a queue: the text and the place of runs that wait, and whether a lane starts anything.
import { Inject, Injectable } from '@nestjs/common';
import type { RunStore } from '#domain';
import { DEFAULT_LANE } from '#kernel';
import type { ClientData, ClientRequest } from '#protocol';
import { CommitAnnouncer } from '../live/commit-announcer.js';
import { type FeatureSettings, PORT, SETTINGS } from '../ports.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';
import { mergeOptions } from './run-options.js';
import { toQueueLane, toRunInfo } from './run.wire.js';

type Events = 'run_update' | 'run_move' | 'lane_pause' | 'lane_resume';

@Injectable()
export class QueueGateway {
  readonly handlers: EventHandlers<Events> = {
    run_update: (request, context) => this.update(request, context),
    run_move: async ({ run_id: runId, before_run_id: before }, { user }) =>
      toRunInfo(this.announcer.announced(await this.runs.move(runId, user.userId, before))),
    lane_pause: async ({ lane = DEFAULT_LANE }, { project, user }) =>
      toQueueLane(this.announcer.announced(await this.runs.pauseLane(project.projectId, lane, user.userId))),
    lane_resume: async ({ lane = DEFAULT_LANE }, { project, user }) =>
      toQueueLane(this.announcer.announced(await this.runs.resumeLane(project.projectId, lane, user.userId))),
  };

  constructor(
    @Inject(PORT.runs) private readonly runs: RunStore,
    private readonly announcer: CommitAnnouncer,
    @Inject(SETTINGS) private readonly settings: FeatureSettings,
  ) {}

  private async update(
    { run_id: runId, prompt, options }: ClientRequest<'run_update'>,
    { project, user }: ProjectContext,
  ): Promise<ClientData<'run_update'>> {
    const edited = await this.runs.edit(runId, user.userId, {
      ...(prompt === undefined ? {} : { prompt }),
      ...(options === undefined ? {} : mergeOptions(project.options, options, this.settings)),
    });
    return toRunInfo(this.announcer.announced(edited));
  }
}
