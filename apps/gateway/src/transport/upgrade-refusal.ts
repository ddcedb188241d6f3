// A websocket that is refused before the upgrade gets an HTTP answer that says why, as a problem document (RFC 9457).
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { type AppError, ERROR_POLICY } from '#kernel';
import { problemDocument, PROBLEM_TYPE } from '../http/problem-document.js';

/** Answers and ends the connection. engine.io itself would say 400 and `text/html`, whatever the reason. */
export function refuseUpgrade(request: IncomingMessage, error: AppError, correlationId: string): void {
  const status = ERROR_POLICY[error.kind].http;
  const body = JSON.stringify(problemDocument(error, correlationId));
  request.socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
