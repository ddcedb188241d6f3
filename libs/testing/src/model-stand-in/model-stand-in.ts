// A loopback stand-in of Anthropic's Messages API: the model of tests and of a demo without an API key.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { z } from 'zod';
import { answer } from './answer.js';
import { errorBody } from './api-error.js';
import { requestText } from './conversation.js';
import { FaultCounter } from './fault-counter.js';
import { countTokensRequestSchema, type MessagesRequest, messagesRequestSchema } from './messages-request.schema.js';
import { findModel, modelList } from './models.js';
import { type RecordedRequest, RequestLog } from './request-log.js';
import { sendAnswer, sendJson, streamAnswer } from './respond.js';
import { findForgedThinking } from './thinking-signature.js';
import { countTokens } from './token-count.js';

export interface ModelStandInOptions {
  /** The key that callers must present, as `x-api-key` or as a Bearer token. */
  key: string;
  /** TCP port; 0 (the default) takes a free one. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** How many requests `requests()` keeps; default 1000. */
  keep?: number;
}

export interface ModelStandIn {
  /** Base URL without a slash at its end, for ANTHROPIC_BASE_URL. */
  url: string;
  /** Requests so far, oldest first, each with its outcome. */
  requests(): RecordedRequest[];
  /** The first request that fits, now or as soon as there is one. */
  waitForRequest(fits: (request: RecordedRequest) => boolean): Promise<RecordedRequest>;
  /** Breaks running answers off and frees the port. */
  close(): Promise<void>;
}

/** Bytes of a request body; the real API refuses more than 32 MB too. */
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/** Starts the stand-in. Rejects when the port is taken. */
export async function startModelStandIn(options: ModelStandInOptions): Promise<ModelStandIn> {
  const log = new RequestLog(options.keep ?? 1000);
  const faults = new FaultCounter();
  const server = createServer((request, response) => {
    const exchange = new Exchange(request, response, options.key, log, faults);
    exchange.run().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    requests: () => log.all(),
    waitForRequest: (fits) => log.waitFor(fits),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** One request and its answer. */
class Exchange {
  private readonly requestId = `req_demo_${randomUUID().replaceAll('-', '')}`;
  private readonly gone = new AbortController();
  private readonly record: RecordedRequest;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly key: string,
    private readonly log: RequestLog,
    private readonly faults: FaultCounter,
  ) {
    this.record = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: undefined,
      status: undefined,
      outcome: 'open',
    };
    response.on('close', () => this.finish(response.writableFinished ? 'answered' : 'aborted'));
  }

  async run(): Promise<void> {
    try {
      const text = await this.readBody();
      this.record.body = text === undefined ? undefined : parseJson(text);
      this.log.add(this.record);
      if (text === undefined) return this.fail(413, 'Request exceeds the maximum size');
      await this.route();
    } catch (error) {
      // The client going away ends an answer early; that is an outcome, everything else is a fault of the stand-in.
      if (!this.gone.signal.aborted) throw error;
    }
  }

  private async readBody(): Promise<string | undefined> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
    }
    return size > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
  }

  private async route(): Promise<void> {
    const path = this.record.path.split('?', 1)[0] ?? '';
    if (path === '/api/hello') return this.json({ message: 'hello' });
    if (!this.authorized())
      return this.fail(401, this.hasCredential() ? 'invalid x-api-key' : 'x-api-key header is required');
    if (this.record.method === 'POST' && path === '/v1/messages') return this.message();
    if (this.record.method === 'POST' && path === '/v1/messages/count_tokens') return this.tokenCount();
    if (this.record.method === 'GET' && path === '/v1/models') return this.json(modelList());
    const model =
      this.record.method === 'GET' && path.startsWith('/v1/models/') ? findModel(path.slice(11)) : undefined;
    if (model !== undefined) return this.json(model);
    return this.fail(404, `Not found: ${this.record.method} ${path}`);
  }

  private async message(): Promise<void> {
    const request = this.parse(messagesRequestSchema);
    if (request === undefined) return;
    const forged = findForgedThinking(request.messages);
    if (forged !== undefined) return this.fail(400, `${forged}: Invalid \`signature\` in \`thinking\` block`);
    return this.answer(request);
  }

  private async answer(request: MessagesRequest): Promise<void> {
    const reply = answer(request);
    const fault = this.faults.next(reply);
    if (fault?.kind === 'error')
      return this.fail(fault.status, `The demo model was asked to fail with ${fault.status}`);
    if (fault?.kind === 'limit') return this.refuseForLimit(this.faults.limitEnd(reply));
    const send = request.stream === true ? streamAnswer : sendAnswer;
    this.record.status = 200;
    const end = await send(this.response, reply, fault, this.requestId, this.gone.signal);
    if (end === 'whole') return;
    this.finish('cut');
    this.response.destroy();
  }

  private tokenCount(): void {
    const request = this.parse(countTokensRequestSchema);
    if (request !== undefined) this.json({ input_tokens: countTokens(requestText(request)) });
  }

  private parse<T>(schema: z.ZodType<T>): T | undefined {
    const parsed = schema.safeParse(this.record.body);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    this.fail(400, `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'invalid'}`);
    return undefined;
  }

  private authorized(): boolean {
    const { 'x-api-key': apiKey, authorization } = this.record.headers;
    return apiKey === this.key || authorization === `Bearer ${this.key}`;
  }

  private hasCredential(): boolean {
    return this.record.headers['x-api-key'] !== undefined || this.record.headers.authorization !== undefined;
  }

  private json(body: object): void {
    this.record.status = 200;
    sendJson(this.response, 200, body, this.requestId);
  }

  /** As the API tells an account that has used up its plan; a client does not try again. */
  private refuseForLimit(endS: number): void {
    this.fail(429, `Claude AI usage limit reached|${endS}`, {
      'x-should-retry': 'false',
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(endS),
    });
  }

  private fail(status: number, message: string, headers?: Record<string, string>): void {
    this.record.status = status;
    const retry = headers ?? (status === 429 || status === 529 ? { 'retry-after': '1' } : {});
    sendJson(this.response, status, errorBody(status, message, this.requestId), this.requestId, retry);
  }

  private finish(outcome: RecordedRequest['outcome']): void {
    if (this.record.outcome !== 'open') return;
    this.record.outcome = outcome;
    this.gone.abort();
    this.log.changed();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema then says that an object was expected
  }
}
