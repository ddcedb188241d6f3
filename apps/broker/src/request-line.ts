// The log of the broker: one line per request, with who and how long, never with what was said.
import type { TokenOwner } from '#domain';
import { type AppError, ERROR_POLICY } from '#kernel';
import type { Logger } from '#observability';

export interface RequestLine {
  method: string;
  provider: string;
  /** Name in the provider's route table; undefined for what was refused before. */
  route: string | undefined;
  /** Sent to the caller; 0 when it left before. */
  status: number;
  durationMs: number;
  bytesUp: number;
  bytesDown: number;
  owner: TokenOwner | undefined;
  callerLeft: boolean;
  error: AppError | undefined;
}

/** Lines per second for callers without a valid token: a sandbox that hammers the socket must not fill the disk. */
const STRANGER_LINES_PER_S = 20;

export class RequestLog {
  private second = 0;
  private lines = 0;
  private suppressed = 0;

  constructor(private readonly logger: Logger) {}

  write(line: RequestLine): void {
    if (line.owner === undefined && !this.mayLogStranger()) {
      this.suppressed += 1;
      return;
    }
    const level = line.error === undefined ? 'info' : ERROR_POLICY[line.error.kind].log;
    this.logger[level](fieldsOf(line, this.takeSuppressed()), 'request');
  }

  private mayLogStranger(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.second) [this.second, this.lines] = [second, 0];
    this.lines += 1;
    return this.lines <= STRANGER_LINES_PER_S;
  }

  private takeSuppressed(): number {
    const count = this.suppressed;
    this.suppressed = 0;
    return count;
  }
}

function fieldsOf(line: RequestLine, suppressed: number): object {
  return {
    method: line.method,
    provider: line.provider,
    route: line.route,
    status: line.status,
    duration_ms: Math.round(line.durationMs),
    bytes_up: line.bytesUp,
    bytes_down: line.bytesDown,
    project_id: line.owner?.projectId,
    session_id: line.owner?.sessionId,
    process_id: line.owner?.processId,
    run_id: line.owner?.runId,
    caller_left: line.callerLeft || undefined,
    code: line.error?.code,
    cause: causeCode(line.error),
    suppressed_lines: suppressed || undefined,
  };
}

/** The system's name for what went wrong underneath (`ECONNREFUSED`); its message may hold addresses, so it is not logged. */
function causeCode(error: AppError | undefined): string | undefined {
  const cause = error?.cause;
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}
