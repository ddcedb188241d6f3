// The containers of one instance on the engine: found by name, and touched only when their label says that they are ours (R19).
import type { Container, ContainerCreateOptions, ContainerInspectInfo } from 'dockerode';
import type { SandboxSummary } from '#domain';
import { AppError } from '#kernel';
import { logText } from './container-log.js';
import { type EngineClient, isRefusal, startFailed, unlessMissing } from './engine-client.js';
import { type Identity, LABEL } from './identity.js';

/** Starting and stopping touch disks and wait for processes. */
const SLOW_CALL_MS = 60_000;
const STOP_GRACE_S = 5;
const LOG_LINES = 100;

export class SandboxContainers {
  constructor(
    private readonly engine: EngineClient,
    private readonly identity: Identity,
  ) {}

  /** Null when there is none. Throws `sandbox.start_failed` if the name is taken by someone else's. */
  async find(sandboxId: string): Promise<ContainerInspectInfo | null> {
    const container = this.byName(sandboxId);
    const found = await unlessMissing(this.engine.call((abortSignal) => container.inspect({ abortSignal })));
    if (found && !this.identity.owns(found.Config.Labels)) {
      throw new AppError('sandbox.start_failed', 'A container of that name belongs to someone else.');
    }
    return found;
  }

  async list(): Promise<SandboxSummary[]> {
    const filters = this.identity.filter('sandbox');
    const found = await this.engine.call((abortSignal) =>
      this.engine.docker.listContainers({ all: true, filters, abortSignal }),
    );
    return found.map(({ Id, Labels, State }) => ({
      sandboxId: Labels[LABEL.sandbox] ?? '',
      projectId: Labels[LABEL.project] ?? '',
      containerId: Id,
      state: State === 'running' || State === 'paused' ? 'running' : 'stopped',
    }));
  }

  /** Null when another caller has just made one of that name. */
  async create(options: ContainerCreateOptions): Promise<Container | null> {
    try {
      return await this.engine.call(
        (abortSignal) => this.engine.docker.createContainer({ ...options, abortSignal }),
        SLOW_CALL_MS,
      );
    } catch (error) {
      if (isRefusal(error, 409)) return null;
      throw startFailed(error, 'The engine refused to create the sandbox.');
    }
  }

  /** Null when the container is gone. One that runs already is fine. */
  async start(container: Container): Promise<Container | null> {
    try {
      await this.engine.call((abortSignal) => container.start({ abortSignal }), SLOW_CALL_MS);
      return container;
    } catch (error) {
      if (isRefusal(error, 304)) return container;
      if (isRefusal(error, 404, 409)) return null;
      throw startFailed(error, 'The engine refused to start the sandbox.');
    }
  }

  async unpause(container: Container): Promise<void> {
    try {
      await this.engine.call((abortSignal) => container.unpause({ abortSignal }));
    } catch (error) {
      // Someone else was first, or it has ended: the caller looks again.
      if (!isRefusal(error, 404, 409, 500)) throw error;
    }
  }

  async stop(sandboxId: string): Promise<void> {
    if (!(await this.find(sandboxId))) return;
    try {
      const container = this.byName(sandboxId);
      await this.engine.call((abortSignal) => container.stop({ t: STOP_GRACE_S, abortSignal }), SLOW_CALL_MS);
    } catch (error) {
      if (!isRefusal(error, 304, 404)) throw error;
    }
  }

  /** With its anonymous volumes, if the image declares any. */
  async remove(container: Container): Promise<void> {
    try {
      await this.engine.call((abortSignal) => container.remove({ force: true, v: true, abortSignal }), SLOW_CALL_MS);
    } catch (error) {
      if (isRefusal(error, 404)) return;
      if (!isRefusal(error, 409)) throw error;
      // Another caller removes it: wait for that.
      await unlessMissing(
        this.engine.call((abortSignal) => container.wait({ condition: 'removed', abortSignal }), SLOW_CALL_MS),
      );
    }
  }

  async lastLog(container: Container): Promise<string> {
    const frames = await this.engine.call((abortSignal) =>
      container.logs({ stdout: true, stderr: true, follow: false, tail: LOG_LINES, abortSignal }),
    );
    return logText(frames);
  }

  byId(containerId: string): Container {
    return this.engine.docker.getContainer(containerId);
  }

  byName(sandboxId: string): Container {
    return this.engine.docker.getContainer(this.identity.containerName(sandboxId));
  }
}
