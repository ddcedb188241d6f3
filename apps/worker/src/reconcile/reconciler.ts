// Compares what Postgres says with the queue, the sandboxes and their processes, and repairs the difference (R3). A timer of the
// holder, woken by each reconnection of Redis; never itself a job. Only the holder of the lease runs it, which is its lock.
import type { Announcer, Dispatch, ExecutionStore } from '#domain';
import { isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { every, type Repeated } from '../timing/every.js';
import { compareJobs } from './compare-jobs.js';
import type { SandboxSweep } from './sandbox-sweep.js';

export interface ReconcilerParts {
  hostId: string;
  intervalMs: number;
  /** After so long a run that waits for a person leaves its lane to others, where its project says nothing; 0: never. */
  parkAfterMs: number;
  executions: Pick<ExecutionStore, 'activeRuns' | 'promoteFreeLanes' | 'closeOverdue'>;
  queue: {
    dispatch(dispatch: Dispatch): Promise<void>;
    jobIds(hostId: string): Promise<string[]>;
    drop(hostId: string, jobId: string): Promise<boolean>;
  };
  announcer: Announcer;
  registry: { find(runId: string): unknown; attach(dispatch: Dispatch): Promise<void> };
  sweep: Pick<SandboxSweep, 'run'>;
  removeDeleted: () => Promise<void>;
  /** What workers that were killed left on the engine, apart from sandboxes. */
  removeLeftovers: () => Promise<void>;
  logger: Logger;
}

/** Questions whose time is up, and runs that are to be parked, are looked for so often. */
const OVERDUE_MS = 500;

type Step = [name: string, work: () => Promise<void>];

export class Reconciler {
  private loops: Repeated[] = [];
  private first = true;

  constructor(private readonly parts: ReconcilerParts) {}

  /** The first comparison takes over what earlier holders left running. Docker has a loop of its own: it may hang. */
  start(): void {
    this.loops = [
      every(
        OVERDUE_MS,
        () => this.closeOverdue(),
        (error) => logError(this.parts.logger, error, { doing: 'close overdue questions' }),
      ),
      this.repeat([
        ['lanes', () => this.promote()],
        ['jobs', () => this.repairJobs()],
      ]),
      this.repeat([
        ['sandboxes', () => this.parts.sweep.run()],
        ['deleted projects', () => this.parts.removeDeleted()],
        ['leftovers', () => this.parts.removeLeftovers()],
      ]),
    ];
  }

  /** Compares again soon. */
  nudge(): void {
    for (const loop of this.loops) loop.nudge();
  }

  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  private repeat(steps: Step[]): Repeated {
    const failed = (error: unknown) => logError(this.parts.logger, error, { doing: 'reconcile' });
    return every(this.parts.intervalMs, () => this.pass(steps), failed);
  }

  /** Each step by itself: one that fails must not keep the others from being done. */
  private async pass(steps: Step[]): Promise<void> {
    for (const [step, work] of steps) {
      try {
        await work();
      } catch (error) {
        logError(this.parts.logger, error, { doing: 'reconcile', step });
      }
    }
  }

  private async closeOverdue(): Promise<void> {
    const { executions, announcer, hostId, parkAfterMs } = this.parts;
    for (const announcement of await executions.closeOverdue(hostId, { parkAfterMs })) {
      await announcer.announce(announcement);
    }
  }

  private async promote(): Promise<void> {
    const { executions, announcer, hostId } = this.parts;
    for (const announcement of await executions.promoteFreeLanes(hostId)) await announcer.announce(announcement);
  }

  private async repairJobs(): Promise<void> {
    const { executions, queue, registry, hostId, logger } = this.parts;
    const jobIds = await this.jobIds();
    const active = await executions.activeRuns(hostId);
    const isAttached = (runId: string) => registry.find(runId) !== undefined;
    const repairs = compareJobs({ active, isAttached, jobIds, first: this.first });
    this.first = false;
    for (const dispatch of repairs.attach) void registry.attach(dispatch);
    for (const dispatch of repairs.dispatch) await queue.dispatch(dispatch);
    for (const jobId of repairs.drop) await queue.drop(hostId, jobId);
    const { attach, dispatch, drop } = repairs;
    if (attach.length + dispatch.length + drop.length === 0) return;
    logger.info({ attached: attach.length, dispatched: dispatch.length, dropped: drop.length }, 'queue repaired');
  }

  private async jobIds(): Promise<string[] | undefined> {
    try {
      return await this.parts.queue.jobIds(this.parts.hostId);
    } catch (error) {
      if (isAppError(error) && error.code === 'service.unavailable') return undefined;
      throw error;
    }
  }
}
