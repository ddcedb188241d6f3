// Writes one answer to one client: paced, with back-pressure, and ended at once when the client goes.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from './answer.js';
import type { Fault } from './demo-script.js';
import { encodeEvent, streamSteps, wholeMessage } from './message-stream.js';

/** Headers of every answer of the API. */
export function apiHeaders(requestId: string): Record<string, string> {
  return { 'request-id': requestId, 'anthropic-organization-id': 'demo-model' };
}

/** Writes a JSON body. */
export function sendJson(response: ServerResponse, status: number, body: object, requestId: string, extra = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...apiHeaders(requestId),
    ...extra,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Streams an answer. `cut` tells the caller to drop the connection now; rejects with an AbortError when `gone` fires. */
export async function streamAnswer(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | undefined,
  requestId: string,
  gone: AbortSignal,
): Promise<'whole' | 'cut'> {
  const breakAfter = fault?.kind === 'cut' || fault?.kind === 'hang' ? fault.words : undefined;
  if (fault?.kind === 'hang' && breakAfter === undefined) return hang(gone);
  response.writeHead(200, {
    ...apiHeaders(requestId),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  let said = 0;
  for (const step of streamSteps(answer)) {
    const last = step.events.some((event) => event.type === 'message_stop');
    if (breakAfter !== undefined && ((step.word && said >= breakAfter) || last)) return breakOff(response, fault, gone);
    if (step.word && step.delayMs > 0 && said > 0) await delay(step.delayMs, undefined, { signal: gone });
    await write(response, step.events.map(encodeEvent).join(''), gone);
    if (step.word) said += 1;
  }
  response.end();
  return 'whole';
}

/** Sends an answer whole, after the time that its words would have taken. */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | undefined,
  requestId: string,
  gone: AbortSignal,
): Promise<'whole' | 'cut'> {
  if (fault?.kind === 'hang') return hang(gone);
  const body = Buffer.from(JSON.stringify(wholeMessage(answer)));
  const steps = fault === undefined ? [...streamSteps(answer)] : [];
  const totalMs = steps.reduce((total, step) => total + step.delayMs, 0);
  if (totalMs > 0) await delay(totalMs, undefined, { signal: gone });
  response.writeHead(200, {
    ...apiHeaders(requestId),
    'content-type': 'application/json',
    'content-length': body.length,
  });
  if (fault === undefined) {
    response.end(body);
    return 'whole';
  }
  await write(response, body.subarray(0, body.length >> 1), gone);
  return breakOff(response, fault, gone);
}

async function write(response: ServerResponse, chunk: string | Buffer, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  if (!response.write(chunk)) await once(response, 'drain', { signal: gone });
}

/** What was written must reach the client before the connection breaks: half an answer is the point. */
async function breakOff(response: ServerResponse, fault: Fault | undefined, gone: AbortSignal): Promise<'cut'> {
  if (fault?.kind === 'hang') return hang(gone);
  await new Promise<void>((resolve) => response.write('', () => resolve()));
  return 'cut';
}

/** Never ends by itself: rejects when the client goes or the stand-in is closed. */
function hang(gone: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(gone.reason as Error);
    if (gone.aborted) fail();
    else gone.addEventListener('abort', fail, { once: true });
  });
}
