// Lets a host know that somebody who may send prompts looks at a project, so that its sandbox and an agent are ready before the prompt is.
import type { HostClient, ProjectRecord } from '#domain';
import { type Clock, isAppError, systemClock } from '#kernel';

export interface ProjectWakerParts {
  hostClient: HostClient;
  report: (error: unknown, context: Record<string, unknown>) => void;
  clock?: Clock;
}

/** A page that is reloaded, or twenty people who join at once, wake a project once in this time, ms. */
const AGAIN_MS = 10_000;
const DEADLINE_MS = 5_000;

export class ProjectWaker {
  readonly #wokenAt = new Map<string, number>();
  readonly #clock: Clock;

  constructor(private readonly parts: ProjectWakerParts) {
    this.#clock = parts.clock ?? systemClock;
  }

  /** Returns at once; a host that is away makes nothing ready, and nobody misses it. */
  wake({ projectId, hostId }: Pick<ProjectRecord, 'projectId' | 'hostId'>): void {
    const now = this.#clock.monotonicMs();
    const before = this.#wokenAt.get(projectId);
    if (before !== undefined && now - before < AGAIN_MS) return;
    for (const [known, at] of this.#wokenAt) if (now - at >= AGAIN_MS) this.#wokenAt.delete(known);
    this.#wokenAt.set(projectId, now);
    this.parts.hostClient
      .request(hostId, 'project.wake', { projectId }, { deadlineMs: DEADLINE_MS })
      .catch((error: unknown) => {
        if (isAppError(error) && error.code === 'host.unavailable') return;
        this.parts.report(error, { operation: 'project.wake', project_id: projectId });
      });
  }
}
