// Where requests below /api/v1 come in: each gets its correlation id, a wrong method is told so, and each leaves one line in the log.
import type { NextFunction, Request, Response } from 'express';
import { AppError, type Clock, ERROR_POLICY } from '#kernel';
import { type Logger, type Metrics, newCorrelationId } from '#observability';
import { factsOf } from './rest-call.js';
import { methodsAt } from './rest-routing.js';
import type { RestTraffic } from './rest-traffic.js';

export interface RestEntryOptions {
  traffic: RestTraffic;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

/** Express middleware, mounted at the prefix. */
export function restEntry({ traffic, logger, metrics, clock }: RestEntryOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAtMs = clock.monotonicMs();
    const facts = factsOf(response);
    facts.correlationId = newCorrelationId();
    response.setHeader('x-correlation-id', facts.correlationId);
    response.setHeader('cache-control', 'private, no-cache');
    response.setHeader('vary', 'authorization');
    response.once('close', () => {
      if (facts.error !== undefined) metrics.errorSeen(facts.error.code);
      logRequest(logger, request, response, Math.round(clock.monotonicMs() - startedAtMs));
    });
    try {
      traffic.begin(response);
      checkMethod(request, response, next);
    } catch (error) {
      next(error);
    }
  };
}

function checkMethod(request: Request, response: Response, next: NextFunction): void {
  const allowed = methodsAt(request.path);
  if (allowed.length === 0 || allowed.includes(request.method)) return next();
  response.setHeader('allow', [...allowed, 'OPTIONS'].join(', '));
  if (request.method === 'OPTIONS') {
    response.status(204).end();
    return;
  }
  throw new AppError('request.method_not_allowed', 'This address does not take this method.', {
    details: { allow: allowed },
  });
}

/** What, how it ended, how long it took; never the address, which is whatever a client typed, nor what was carried. */
function logRequest(logger: Logger, { method }: Request, response: Response, durationMs: number): void {
  const { correlationId, error, call } = factsOf(response);
  const line = {
    route: call?.name ?? 'unknown',
    method,
    status: response.statusCode,
    ...(call === undefined || call.context.user.userId === '' ? {} : { user_id: call.context.user.userId }),
    ...(call?.context.project === undefined ? {} : { project_id: call.context.project.projectId }),
    correlation_id: correlationId,
    duration_ms: durationMs,
    ...(response.writableFinished ? {} : { cut_off: true }),
  };
  if (error === undefined) return logger.info({ ...line, code: 'ok' }, 'request');
  const { log, blame } = ERROR_POLICY[error.kind];
  logger[log]({ ...line, code: error.code, ...(blame === 'service' ? { err: error } : {}) }, 'request');
}
