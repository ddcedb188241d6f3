// What a gateway says before its backend is there.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '#kernel';
import { newCorrelationId } from '#observability';
import { problemDocument, PROBLEM_TYPE } from './problem-document.js';

const RETRY_AFTER_S = 1;

/** Also for upgrades: without an endpoint for them they arrive as plain requests, and clients try again by themselves. */
export function answerNotReady(_request: IncomingMessage, response: ServerResponse): void {
  const error = new AppError('service.unavailable', 'The gateway is starting.', { retryAfterMs: RETRY_AFTER_S * 1000 });
  const correlationId = newCorrelationId();
  const document = problemDocument(error, correlationId);
  response.writeHead(document.status, {
    'content-type': PROBLEM_TYPE,
    'retry-after': String(RETRY_AFTER_S),
    'cache-control': 'no-store',
    'x-correlation-id': correlationId,
  });
  response.end(JSON.stringify(document));
}
