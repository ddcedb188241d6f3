// Carries one request to a provider and its answer back, byte for byte and as it comes; ends both sides when either goes.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { AppError, isAppError } from '#kernel';
import { requestHeaders, responseHeaders } from './http/header-policy.js';
import { toRaw } from './http/header-list.js';
import { checkDeclaredLength, pumpBody } from './http/request-body.js';
import type { Provider } from './providers/provider.js';

export interface Traffic {
  bytesUp: number;
  bytesDown: number;
}

export interface ForwardOptions {
  request: IncomingMessage;
  response: ServerResponse;
  provider: Provider;
  /** Path and query at the provider. */
  path: string;
  bodyLimitBytes: number;
  /** Counted while it flows. */
  traffic: Traffic;
}

/**
 * Resolves when the answer has gone out whole, or the caller has left. Rejects with an AppError when the upstream failed: before its head
 * arrived the caller can still be told, after that its connection must be broken (`sendError` knows which).
 */
export function forward(options: ForwardOptions): Promise<void> {
  const { request, response, provider, path, bodyLimitBytes, traffic } = options;
  checkDeclaredLength(request, bodyLimitBytes);
  const headers = provider.authorize(requestHeaders(request.rawHeaders));
  return new Promise((resolve, reject) => {
    const upstream = provider.upstream.open(request.method ?? 'GET', path, headers);
    const fail = (error: unknown): void => {
      reject(upstreamError(error));
      upstream.destroy();
    };
    upstream.on('error', fail);
    upstream.once('upgrade', () => fail(new Error('unasked upgrade')));
    upstream.once('response', (answer) => {
      answerCaller(answer, options, upstream).then(resolve, fail);
    });
    response.once('close', () => {
      // Whatever is still under way upstream is for nobody. A finished exchange has given its connection back already.
      if (!response.writableFinished || !upstream.writableFinished) upstream.destroy();
      resolve();
    });
    pumpBody(request, upstream, bodyLimitBytes, {
      bytes: (count) => (traffic.bytesUp += count),
      refuse: fail,
    });
  });
}

async function answerCaller(answer: IncomingMessage, options: ForwardOptions, upstream: ClientRequest): Promise<void> {
  const { response, provider, traffic } = options;
  const status = answer.statusCode ?? 0;
  if (isRedirect(status) || status === 407) {
    // Followed, it would take the credential to whoever it names; passed on, it would send the caller there.
    throw new AppError(
      'broker.upstream_failed',
      `The model API answered with status ${status}, which is never followed.`,
    );
  }
  if (response.destroyed) return void upstream.destroy();
  response.writeHead(status, toRaw(responseHeaders(answer.rawHeaders, provider.secrets)));
  response.flushHeaders();
  answer.on('data', (chunk: Buffer) => (traffic.bytesDown += chunk.length));
  await new Promise<void>((resolve, reject) => {
    // Not `pipeline`: who broke off first decides what is said about it, and that is heard here before the other side is torn down.
    answer.once('error', reject);
    response.once('error', reject);
    response.once('finish', resolve);
    answer.pipe(response);
  });
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function upstreamError(error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError('broker.upstream_failed', 'The model API could not be reached, or broke off.', { cause: error });
}
