// Errors of the broker as its callers read them: in the form of the Messages API, with our own code beside it.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type AppError, ERROR_POLICY, type ErrorKind } from '#kernel';

/** The `error.type` of the API for each kind of ours. Source: https://docs.claude.com/en/api/errors */
const API_TYPES: Record<ErrorKind, string> = {
  invalid: 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  conflict: 'invalid_request_error',
  too_large: 'request_too_large',
  rate_limited: 'rate_limit_error',
  unavailable: 'api_error',
  timeout: 'timeout_error',
  failed: 'invalid_request_error',
  internal: 'api_error',
};

export function errorStatus(error: AppError): number {
  return ERROR_POLICY[error.kind].http;
}

/** Answers with an error when nothing was sent yet, else breaks the connection: half an answer must not look whole. */
export function sendError(response: ServerResponse, error: AppError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = errorBody(error);
  response.writeHead(errorStatus(error), {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(error.retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }),
  });
  response.end(body);
}

/** The same on a bare connection, for what Node does not hand over as a request (CONNECT, upgrades, malformed heads). */
export function sendErrorRaw(connection: Duplex, error: AppError): void {
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  const body = errorBody(error);
  const head = [
    `HTTP/1.1 ${errorStatus(error)} ${STATUS_CODES[errorStatus(error)] ?? 'Refused'}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  connection.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => connection.destroy());
}

function errorBody(error: AppError): string {
  return JSON.stringify({
    type: 'error',
    error: { type: API_TYPES[error.kind], message: `${error.message} (${error.code})`, code: error.code },
  });
}
