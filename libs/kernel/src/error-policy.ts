// What each kind of error means at every edge. One exhaustive table, so that no edge decides on its own.
export const ERROR_KINDS = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'rate_limited',
  'unavailable',
  'timeout',
  'failed',
  'internal',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface ErrorPolicy {
  /** Status of an HTTP answer. */
  http: number;
  /** Whether the same request may be sent again as it is. */
  retryable: boolean;
  /** What a BullMQ processor does with it. A job's failure never decides a run's status (R2): it is only delivered again or dropped. */
  job: 'redeliver' | 'drop';
  log: 'debug' | 'info' | 'warn' | 'error';
  /** Whether it counts against the service (an alert) or against the caller. */
  blame: 'caller' | 'service';
}

export const ERROR_POLICY: Record<ErrorKind, ErrorPolicy> = {
  invalid: { http: 400, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  unauthenticated: { http: 401, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  forbidden: { http: 403, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  not_found: { http: 404, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  conflict: { http: 409, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  too_large: { http: 413, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  rate_limited: { http: 429, retryable: true, job: 'redeliver', log: 'info', blame: 'caller' },
  unavailable: { http: 503, retryable: true, job: 'redeliver', log: 'warn', blame: 'service' },
  timeout: { http: 504, retryable: true, job: 'redeliver', log: 'warn', blame: 'service' },
  failed: { http: 422, retryable: false, job: 'drop', log: 'info', blame: 'caller' },
  internal: { http: 500, retryable: false, job: 'drop', log: 'error', blame: 'service' },
};
