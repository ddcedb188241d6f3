// What the wide log line of a run tells, gathered on the way (times in ms).
import type { ClaimedRun, HostLease, RunRecord } from '#domain';
import { type Clock, ERROR_CODES, type ErrorCode, type FinalRunStatus } from '#kernel';
import type { RunLine } from '#observability';

export class RunFacts {
  private readonly claimedAt: number;
  private sandboxMs: number | null = null;
  private firstOutputMs: number | null = null;

  constructor(
    private readonly claimed: ClaimedRun,
    private readonly clock: Clock,
  ) {
    this.claimedAt = clock.monotonicMs();
  }

  async timeSandbox<T>(ready: () => Promise<T>): Promise<T> {
    const before = this.clock.monotonicMs();
    try {
      return await ready();
    } finally {
      this.sandboxMs = Math.round((this.sandboxMs ?? 0) + this.clock.monotonicMs() - before);
    }
  }

  noteFirstOutput(): void {
    this.firstOutputMs ??= Math.round(this.clock.monotonicMs() - this.claimedAt);
  }

  get queueWaitMs(): number | null {
    const { queuedAt, startedAt } = this.claimed.run;
    return startedAt === null ? null : Math.max(0, startedAt.getTime() - queuedAt.getTime());
  }

  get resumed(): boolean {
    return this.claimed.resumed;
  }

  lineOf(run: RunRecord, status: FinalRunStatus, lease: HostLease): RunLine {
    return {
      run_id: run.runId,
      project_id: run.projectId,
      session_id: run.sessionId,
      kind: run.kind,
      status,
      correlation_id: run.correlationId,
      host_id: lease.hostId,
      queue_wait_ms: this.queueWaitMs,
      sandbox_ms: this.sandboxMs,
      first_output_ms: this.firstOutputMs,
      active_ms: run.activeMs,
      cost_usd: run.costUsd,
      exit_code: run.exitCode,
      error_code: knownCode(run.errorCode),
    };
  }
}

const knownCode = (code: string | null): ErrorCode | null =>
  code !== null && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : null;
