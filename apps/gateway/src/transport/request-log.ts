// The one line that a request leaves behind: what, how it ended, how long it took. Never what it carried.
import { ERROR_POLICY, type AppError } from '#kernel';
import type { Logger } from '#observability';

export interface RequestLine {
  event: string;
  connection_id: string;
  user_id: string;
  correlation_id: string;
  duration_ms: number;
  project_id?: string;
}

/** Events by which a client paces what it is sent: many a second, so their successes are `debug`. */
const PACING: ReadonlySet<string> = new Set(['ping', 'stream_ack', 'message_ack']);

/** `code` is `ok` or the error's. Faults of the service carry the error itself, at the level of its kind. */
export function logRequest(logger: Logger, line: RequestLine, error?: AppError): void {
  if (error === undefined) {
    logger[PACING.has(line.event) ? 'debug' : 'info']({ ...line, code: 'ok' }, 'command');
    return;
  }
  const { log, blame } = ERROR_POLICY[error.kind];
  logger[log]({ ...line, code: error.code, ...(blame === 'service' ? { err: error } : {}) }, 'command');
}
