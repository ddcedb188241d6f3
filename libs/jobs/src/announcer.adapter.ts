// After a commit: jobs to the queue, events to the gateways, wake-ups to the hosts. What gets lost here is found again (R3, R16).
import type { Announcement, Announcer, Dispatch, LiveBus } from '#domain';
import type { ReportProblem } from './report-problem.port.js';

export interface RedisAnnouncerOptions {
  queue: { dispatch(dispatch: Dispatch): Promise<void> };
  bus: Pick<LiveBus, 'publish' | 'wakeHost'>;
  report: ReportProblem;
}

export class RedisAnnouncer implements Announcer {
  constructor(private readonly options: RedisAnnouncerOptions) {}

  async announce(announcement: Announcement): Promise<void> {
    const { queue, bus, report } = this.options;
    if (announcement.events.length > 0 || announcement.headSeq !== undefined || announcement.queue !== undefined) {
      bus.publish(announcement.projectId, { kind: 'announcement', announcement });
    }
    for (const hostId of announcement.wakeHostIds) bus.wakeHost(hostId);
    await Promise.all(
      announcement.dispatches.map(async (dispatch) => {
        try {
          await queue.dispatch(dispatch);
        } catch (error) {
          const context = { run_id: dispatch.runId, correlation_id: dispatch.correlationId };
          report({ operation: 'queue.dispatch', error, context });
        }
      }),
    );
  }
}
