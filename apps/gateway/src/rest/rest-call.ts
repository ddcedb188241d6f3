// One HTTP request of a script on its way to a use-case: what each step learned of it, kept with its response.
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '#kernel';
import type { RestBody, RestQuery, RestRoute, RestRouteName } from '#protocol';
import type { Grant } from '../transport/access.js';
import type { RequestContext } from '../transport/request-context.js';

export interface RestCall<N extends RestRouteName = RestRouteName> {
  readonly name: N;
  readonly route: RestRoute;
  readonly request: Request;
  readonly response: Response;
  /** Aborted when nobody waits for the answer any more, or when the gateway goes away. */
  readonly gone: AbortSignal;
  /** Who asks, and what the user may do in the project that it is about. */
  readonly context: RequestContext & Partial<Grant>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: RestQuery<N>;
  /** Set when the body was read. */
  body: RestBody<N>;
}

/** What is known of a request before it is known whether it is a good one; in `response.locals`. */
export interface RequestFacts {
  correlationId?: string;
  /** Why it was refused. */
  error?: AppError;
  call?: RestCall;
}

export const factsOf = (response: Response): RequestFacts => response.locals;

export function callOf(response: Response): RestCall {
  const { call } = factsOf(response);
  if (call === undefined) throw new AppError('internal.unexpected', 'A route was reached without its guard.');
  return call;
}

/** The parameter of a controller's method that takes the RestCall. */
export const Call = createParamDecorator((_: unknown, context: ExecutionContext): RestCall =>
  callOf(context.switchToHttp().getResponse<Response>()),
);
