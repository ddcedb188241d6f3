// Carries a request's body upstream with back-pressure and a limit, leaving the caller's connection whole when it is refused.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { AppError } from '#kernel';

/** Throws `request.too_large` for a body that says it is longer than allowed. */
export function checkDeclaredLength(request: IncomingMessage, limitBytes: number): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Pumps the body. Not `pipeline`: that destroys the caller's connection when the body is refused, and with it the answer that says why.
 * `refuse` is called once, with an error for the caller, when the body is longer than allowed; the rest of it is read and dropped.
 */
export function pumpBody(
  request: IncomingMessage,
  upstream: ClientRequest,
  limitBytes: number,
  hear: { bytes: (count: number) => void; refuse: (error: AppError) => void },
): void {
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    hear.bytes(chunk.length);
    if (size > limitBytes) {
      stop();
      hear.refuse(tooLarge(limitBytes));
    } else if (!upstream.write(chunk)) {
      request.pause();
    }
  };
  const onDrain = (): void => void request.resume();
  const onEnd = (): void => void upstream.end();
  /** From here on the body is of no use; reading it to its end keeps the connection usable for the answer and the next request. */
  function stop(): void {
    request.off('data', onData);
    request.off('end', onEnd);
    upstream.off('drain', onDrain);
    request.resume();
  }
  upstream.on('drain', onDrain);
  upstream.once('close', stop);
  request.on('data', onData);
  request.once('end', onEnd);
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('request.too_large', `The request body is larger than ${limitBytes} bytes.`);
}
