// Every call to the Docker engine goes through here: it has a deadline, and what goes wrong becomes an AppError by status code.
import Docker from 'dockerode';
import { AppError, isAppError } from '#kernel';

const DEFAULT_DEADLINE_MS = 15_000;

/** An answer of the engine that its caller must judge; the engine's own words name paths of the host, so they stay the cause. */
export class EngineRefusal extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    cause: unknown,
  ) {
    super(`The Docker engine answered ${status}.`, { cause });
  }
}

export class EngineClient {
  readonly docker: Docker;

  constructor(socketPath: string) {
    this.docker = new Docker({ socketPath });
  }

  /**
   * Runs one call. `work` hands the signal on to dockerode. Throws EngineRefusal when the engine answered with an error, and
   * `host.engine_unreachable` when it did not answer.
   */
  async call<T>(work: (abortSignal: AbortSignal) => Promise<T>, deadlineMs = DEFAULT_DEADLINE_MS): Promise<T> {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new AppError('host.engine_unreachable', 'The Docker engine did not answer in time.'));
        abort.abort();
      }, deadlineMs);
    });
    try {
      return await Promise.race([work(abort.signal), late]);
    } catch (error) {
      throw translate(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function translate(error: unknown): unknown {
  if (isAppError(error) || error instanceof EngineRefusal) return error;
  const { statusCode, json, message } = error as { statusCode?: number; json?: { message?: string }; message?: string };
  if (typeof statusCode === 'number') return new EngineRefusal(statusCode, json?.message ?? message ?? '', error);
  return new AppError('host.engine_unreachable', 'The Docker engine cannot be reached.', { cause: error });
}

export const isRefusal = (error: unknown, ...statuses: number[]): error is EngineRefusal =>
  error instanceof EngineRefusal && statuses.includes(error.status);

/** For calls whose only expected refusal is that the thing is not there. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error, 404)) return null;
    throw error;
  }
}

/** The outermost translation: a refusal that nobody had a better word for. Other errors pass. */
export async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error;
    throw new AppError('host.engine_unreachable', 'The Docker engine cannot do its work.', {
      details: { engine_status: error.status },
      cause: error,
    });
  }
}

/** What a caller without a better word for a refusal says. */
export function startFailed(error: unknown, message: string): unknown {
  if (!(error instanceof EngineRefusal)) return error;
  return new AppError('sandbox.start_failed', message, { details: { engine_status: error.status }, cause: error });
}
