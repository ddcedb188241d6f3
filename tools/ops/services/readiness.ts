// Whether Gantry's services are ready, asked of themselves: /readyz over TCP, /healthz over the broker's socket.
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { poll } from '../host/poll.ts';
import { StepError } from '../step.ts';
import type { ServiceStatus } from '../supervisor/service-spec.ts';

const READY_TIMEOUT_MS = 60_000;
const ANSWER_TIMEOUT_MS = 5_000;
const LOG_TAIL_BYTES = 3_000;
const LOG_TAIL_LINES = 12;
/** A service that ended this often since it was applied will not get ready by waiting. */
const HOPELESS_RESTARTS = 5;

export interface Probe {
  service: string;
  logFile: string;
  target: { socketPath: string; path: string } | { url: string };
  /** Any answer will do: the service has no page for this. */
  anyAnswer?: boolean;
}

/** Where to ask a service that listens on `host`: an "any" address is reached through loopback. */
export function probeUrl(host: string, port: number, tls: boolean, path = '/readyz'): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `${tls ? 'https' : 'http'}://${reached}:${port}${path}`;
}

interface Answer {
  status: number;
  body: string;
}

/** The answer of a probe; throws when there is none. */
export function ask(target: Probe['target']): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = { agent: false, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) };
    const done = (response: import('node:http').IncomingMessage): void => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.once('error', reject);
    };
    const outgoing =
      'socketPath' in target
        ? httpRequest({ ...options, ...target }, done)
        : target.url.startsWith('https:')
          ? // The certificate is made for the public name; here only the answer counts.
            httpsRequest(target.url, { ...options, rejectUnauthorized: false }, done)
          : httpRequest(target.url, options, done);
    outgoing.once('error', reject).end();
  });
}

/** Waits until the service says 200. Throws with what it said last and the end of its log. */
export async function awaitReady(probe: Probe, status: () => Promise<ServiceStatus | undefined>): Promise<void> {
  let last = 'it does not answer';
  let state: ServiceStatus | undefined;
  const ready = await poll(READY_TIMEOUT_MS, async () => {
    try {
      const answer = await ask(probe.target);
      if (answer.status === 200 || probe.anyAnswer) return 'ready';
      last = `it answers ${answer.status} ${answer.body.slice(0, 500)}`;
    } catch (error) {
      last = `it does not answer (${error instanceof Error ? error.message : String(error)})`;
    }
    state = await status();
    const hopeless = state && (state.state === 'failed' || state.restarts >= HOPELESS_RESTARTS);
    return hopeless ? 'hopeless' : undefined;
  });
  if (ready === 'ready') return;
  const exits = state?.lastExit ? `; it ended ${state.restarts + 1} times, the last with ${state.lastExit}` : '';
  throw new StepError(
    `The ${probe.service} is not ready: ${last}${exits}\n${endOf(probe.logFile)}`,
    `Read ${probe.logFile} (make logs SERVICE=${probe.service}), mend the cause, then run \`make up\` again.`,
  );
}

function endOf(file: string): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const length = Math.min(size, LOG_TAIL_BYTES);
  if (length === 0) return 'Its log is empty.';
  const buffer = Buffer.alloc(length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, buffer, 0, length, size - length);
  } finally {
    closeSync(descriptor);
  }
  return `The end of its log:\n${buffer.toString('utf8').trim().split('\n').slice(-LOG_TAIL_LINES).join('\n')}`;
}
