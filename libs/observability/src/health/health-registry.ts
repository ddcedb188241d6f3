// What this process needs in order to work, asked with a deadline and remembered for a moment.
import { AppError, type Clock, type ErrorCode, systemClock, toAppError } from '#kernel';

/**
 * `liveness`: without it the process must be restarted (rare: a database that is away is no reason).
 * `readiness`: without it the process should get no new work.
 */
export type HealthScope = 'liveness' | 'readiness';

export interface HealthCheck {
  /** A short stable name: `postgres`, `redis`, `engine`. */
  name: string;
  scope: HealthScope;
  /** Resolves if all is well, else throws; the signal fires at the deadline. */
  run: (signal: AbortSignal) => Promise<void>;
  /** Default 2,000 ms. */
  deadlineMs?: number;
  /** How long a result is served again without asking. Default 1,000 ms. */
  cacheMs?: number;
}

export interface CheckResult {
  status: 'ok' | 'failed';
  duration_ms: number;
  /** Only when failed: a closed code and a text that is safe for clients. */
  error?: { code: ErrorCode; message: string; details?: Record<string, unknown> };
}

export interface HealthReport {
  status: 'ok' | 'failed';
  draining: boolean;
  checks: Record<string, CheckResult>;
}

interface Entry {
  check: HealthCheck;
  last?: { at: number; result: CheckResult };
  /** Askers at the same moment share one run of the check. */
  running?: Promise<CheckResult>;
}

const DEFAULT_DEADLINE_MS = 2000;
const DEFAULT_CACHE_MS = 1000;

export class HealthRegistry {
  private readonly entries = new Map<string, Entry>();
  private readonly clock: Clock;
  private draining = false;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** A name can be taken once: two checks under one name would hide each other. */
  register(check: HealthCheck): void {
    if (this.entries.has(check.name)) {
      throw new AppError('internal.unexpected', `The health check ${check.name} is registered twice.`);
    }
    this.entries.set(check.name, { check });
  }

  /** From now on the process is alive but not ready (drain on SIGTERM, R18). */
  startDraining(): void {
    this.draining = true;
  }

  /** Readiness includes the checks of liveness. Never throws. */
  async report(scope: HealthScope): Promise<HealthReport> {
    const asked = [...this.entries.values()].filter(({ check }) => scope === 'readiness' || check.scope === 'liveness');
    const results = await Promise.all(
      asked.map(async (entry) => [entry.check.name, await this.resultOf(entry)] as const),
    );
    const refused = scope === 'readiness' && this.draining;
    const ok = !refused && results.every(([, result]) => result.status === 'ok');
    return { status: ok ? 'ok' : 'failed', draining: this.draining, checks: Object.fromEntries(results) };
  }

  private async resultOf(entry: Entry): Promise<CheckResult> {
    const { check, last } = entry;
    if (last !== undefined && this.clock.monotonicMs() - last.at < (check.cacheMs ?? DEFAULT_CACHE_MS))
      return last.result;
    entry.running ??= this.ask(entry).finally(() => {
      delete entry.running;
    });
    return entry.running;
  }

  private async ask(entry: Entry): Promise<CheckResult> {
    const startedAt = this.clock.monotonicMs();
    const error = await outcomeOf(entry.check);
    const finishedAt = this.clock.monotonicMs();
    const result: CheckResult = {
      status: error === undefined ? 'ok' : 'failed',
      duration_ms: Math.round(finishedAt - startedAt),
      ...(error === undefined
        ? {}
        : { error: { code: error.code, message: error.message, ...(error.details && { details: error.details }) } }),
    };
    entry.last = { at: finishedAt, result };
    return result;
  }
}

/** Undefined if the check passed within its deadline. A check that ignores its signal is left behind, its late end unheard. */
async function outcomeOf(check: HealthCheck): Promise<AppError | undefined> {
  const deadlineMs = check.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<AppError>((resolve) => {
    timer = setTimeout(() => {
      resolve(new AppError('service.timeout', `No answer within ${deadlineMs} ms.`));
      controller.abort();
    }, deadlineMs);
  });
  const answer = (async () => check.run(controller.signal))().then(
    () => undefined,
    (thrown: unknown) => toAppError(thrown),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
