// Whatever goes wrong in HTTP is answered with a problem document (RFC 9457).
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError, toAppError } from '#kernel';
import { type Logger, logError, newCorrelationId } from '#observability';
import { factsOf } from '../rest/rest-call.js';
import { problemDocument, PROBLEM_TYPE } from './problem-document.js';

/** What is away is mostly back soon. */
const RETRY_AFTER_MS = 1000;
/** Set for an answer that did not come to be. */
const OF_CONTENT = ['content-disposition', 'etag', 'accept-ranges', 'gantry-missing-bytes'];

@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    const request = http.getRequest<Request>();
    const { method } = request;
    const error = fromHttp(thrown);
    const facts = factsOf(response);
    const correlationId = facts.correlationId ?? newCorrelationId();
    // Requests of scripts leave a line of their own, which tells of the error.
    if (facts.correlationId === undefined) logError(this.logger, error, { correlation_id: correlationId, method });
    facts.error = error;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const document = problemDocument(error, correlationId);
    response.status(document.status).type(PROBLEM_TYPE).setHeader('cache-control', 'no-store');
    for (const name of OF_CONTENT) response.removeHeader(name);
    const retryAfterMs = error.retryAfterMs ?? (error.kind === 'unavailable' ? RETRY_AFTER_MS : undefined);
    if (retryAfterMs !== undefined) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000));
    // What is left of the body is not waited for.
    if (!request.complete) response.setHeader('connection', 'close');
    response.send(JSON.stringify(document));
  }
}

/** Express and Nest say with a status what happened: `NotFoundException`, or an error with `status` of a middleware. */
function fromHttp(thrown: unknown): AppError {
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusOf(thrown);
  if (status === 404)
    return new AppError('request.unknown_route', 'There is nothing at this address.', { cause: thrown });
  if (status === 413) return new AppError('request.too_large', 'The request is too large.', { cause: thrown });
  if (status !== undefined && status >= 400 && status < 500) {
    return new AppError('request.invalid_payload', 'The request is not valid.', { cause: thrown });
  }
  return toAppError(thrown);
}

const statusOf = (thrown: unknown): number | undefined => {
  const status: unknown =
    typeof thrown === 'object' && thrown !== null && 'status' in thrown ? thrown.status : undefined;
  return typeof status === 'number' ? status : undefined;
};
