// A broker in this process on a socket of its own, callers that write what they like, and an upstream that answers what it is told.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModelCredential, Secret } from '#config';
import { createLogger } from '#observability';
import { InMemoryTokenDirectory } from '#testing';
import { type BrokerLimits, BrokerServer } from '../../../apps/broker/src/broker-server.js';
import { anthropicProvider } from '../../../apps/broker/src/providers/anthropic.provider.js';
import { createUpstream } from '../../../apps/broker/src/providers/upstream.js';

export const REAL_KEY = 'sk-ant-the-real-key-0123456789';
export const TOKEN = 'token-of-a-live-process';

export interface BrokerUnderTest {
  broker: BrokerServer;
  socketPath: string;
  directory: InMemoryTokenDirectory;
  /** Log lines, parsed. */
  lines: Record<string, unknown>[];
  /** The next log line that fits, or one that was written already. */
  waitForLine(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface BrokerSetup {
  upstreamUrl: string;
  credential?: ModelCredential | undefined;
  limits?: Partial<BrokerLimits>;
  connectTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** Another broker's path, to take it over. */
  socketPath?: string;
}

export const apiKey = (): ModelCredential => ({ kind: 'api_key', value: new Secret(REAL_KEY) });

export async function startBroker(setup: BrokerSetup): Promise<BrokerUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'brk-'));
  const socketPath = setup.socketPath ?? join(folder, 'b.sock');
  const directory = new InMemoryTokenDirectory();
  directory.add(TOKEN);
  const lines: Record<string, unknown>[] = [];
  const listeners = new Set<() => void>();
  const write = (text: string): void => {
    lines.push(JSON.parse(text) as Record<string, unknown>);
    for (const listener of [...listeners]) listener();
  };
  const { upstreamUrl: baseUrl, connectTimeoutMs, idleTimeoutMs } = setup;
  const upstream = createUpstream({
    baseUrl,
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
  });
  const broker = new BrokerServer({
    socketPath,
    providers: [anthropicProvider(upstream, 'credential' in setup ? setup.credential : apiKey())],
    directory,
    logger: createLogger({ service: 'broker', level: 'debug', destination: { write } }),
    ...(setup.limits === undefined ? {} : { limits: setup.limits }),
  });
  await broker.listen();
  return {
    broker,
    socketPath,
    directory,
    lines,
    waitForLine: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = lines.find(fits);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    close: async () => {
      await broker.drain(0);
      rmSync(folder, { recursive: true });
    },
  };
}

export interface Call {
  method?: string;
  path?: string;
  /** Pairs, so that a header may come twice. */
  headers?: [string, string][];
  body?: string | Buffer;
}

const PATH = '/broker/anthropic/v1/messages';

/** Sends a request and gives the answer once its head is there. The token is sent unless other headers are given. */
export async function open(socketPath: string, call: Call = {}): Promise<IncomingMessage> {
  const headers = [['host', 'localhost:8082'], ...(call.headers ?? [['x-api-key', TOKEN]])];
  const request = httpRequest({
    socketPath,
    method: call.method ?? 'POST',
    path: call.path ?? PATH,
    headers: [
      ...headers,
      ...(call.body === undefined ? [] : [['content-length', String(Buffer.byteLength(call.body))]]),
    ].flat(),
    agent: false,
  });
  request.end(call.body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export async function read(response: IncomingMessage): Promise<Answer> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

export async function call(socketPath: string, what: Call = {}): Promise<Answer> {
  return read(await open(socketPath, what));
}

/** Writes bytes as they are and reads until the other side closes. */
export async function raw(socketPath: string, text: string): Promise<string> {
  const connection = connect(socketPath).setEncoding('utf8');
  connection.write(text);
  let answer = '';
  for await (const chunk of connection as AsyncIterable<string>) answer += chunk;
  return answer;
}

/** The error that an answer carries: status and our code. */
export function errorOf(answer: Answer): { status: number; code: string; type: string } {
  const body = JSON.parse(answer.text) as { type: string; error: { code: string; type: string } };
  expect(body.type).toBe('error');
  return { status: answer.status, code: body.error.code, type: body.error.type };
}

export function prompt(content: string, stream = true): string {
  return JSON.stringify({
    model: 'claude-opus-5-5',
    max_tokens: 1_000_000,
    stream,
    messages: [{ role: 'user', content }],
  });
}

export interface ScriptedUpstream {
  url: string;
  /** Heads received so far. */
  received: IncomingMessage[];
  close(): Promise<void>;
}

/** An upstream on loopback that answers with `handle`. */
export async function startUpstream(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ScriptedUpstream> {
  const received: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    received.push(request);
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
