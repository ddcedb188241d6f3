// The body of a request: JSON in UTF-8, uncompressed, and never more of it in memory than the limit.
import type { IncomingMessage } from 'node:http';
import { AppError } from '#kernel';
import { invalidPayload } from '../transport/payload.js';

const JSON_TYPE = /^application\/json *(?:; *charset *= *"?utf-8"? *)?$/i;

/**
 * Undefined for an empty body. Throws `request.unsupported_media_type`, `request.too_large`, `request.invalid_payload`. What was not read
 * when it throws is for the connection's end.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { 'content-type': type, 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (type !== undefined || hasBody(request)) {
    if (!JSON_TYPE.test(type ?? '') || encoding.toLowerCase() !== 'identity') {
      throw new AppError('request.unsupported_media_type', 'The body has to be application/json, not compressed.');
    }
  }
  const bytes = await readAll(request, maxBytes);
  return bytes.length === 0 ? undefined : parse(bytes);
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function readAll(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes)); // the rest flows by and is dropped until the answer ends the connection
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(invalidPayload([{ path: '', message: 'ended before it was whole' }])));
    request.once('error', reject);
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (cause) {
    throw new AppError('request.invalid_payload', 'The body is not JSON in UTF-8.', {
      details: { fields: [{ path: '', message: 'is not JSON in UTF-8' }] },
      cause,
    });
  }
}

const tooLarge = (limit: number): AppError =>
  new AppError('request.too_large', 'The body is larger than the limit.', { details: { max_body_bytes: limit } });
