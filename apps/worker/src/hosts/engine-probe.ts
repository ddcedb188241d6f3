// Whether the Docker engine can serve this worker: reachable, and seeing the same paths (R20). Proven once per start, then watched.
import type { EngineInfo, SandboxRuntime } from '#domain';
import { AppError, toAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { pause } from '../timing/pause.js';

export interface EngineProbeParts {
  runtime: Pick<SandboxRuntime, 'engine' | 'provePaths'>;
  /** Image of the throw-away container. */
  image: string;
  logger: Logger;
  /** Between two tries, ms. */
  retryMs?: number;
}

const RETRY_MS = 1_000;

export class EngineProbe {
  private engine: EngineInfo | undefined;
  private problem = new AppError('host.engine_unreachable', 'The Docker engine has not been reached yet.');

  constructor(private readonly parts: EngineProbeParts) {}

  /** Tries until the engine is proven; undefined when the signal is aborted first. Runs wait meanwhile. */
  async proven(signal: AbortSignal): Promise<EngineInfo | undefined> {
    while (!signal.aborted) {
      if (this.engine !== undefined) return this.engine;
      if (!(await this.prove())) await pause(this.parts.retryMs ?? RETRY_MS, signal);
    }
    return undefined;
  }

  /** For readiness. Throws `host.engine_unreachable` or `host.paths_not_shared`, with its remedy in the details. */
  async check(): Promise<void> {
    if (this.engine === undefined) throw this.problem;
    await this.parts.runtime.engine();
  }

  private async prove(): Promise<boolean> {
    const { runtime, image, logger } = this.parts;
    try {
      const engine = await runtime.engine();
      await runtime.provePaths(image);
      this.engine = engine;
      logger.info({ engine_id: engine.engineId, engine_version: engine.version }, 'engine proven');
      return true;
    } catch (thrown) {
      const error = toAppError(thrown);
      // Once per kind of problem: the tries go on each second.
      if (error.code !== this.problem.code || error.message !== this.problem.message) {
        logError(logger, error, { doing: 'prove engine' });
      }
      this.problem = error;
      return false;
    }
  }
}
