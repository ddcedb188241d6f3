// A script that talks to a gateway over HTTP.
import { REST_PREFIX } from '#protocol';
import { ADMIN_TOKEN, type RunningGateway } from './gateway-fixture.js';

export interface RestAnswer {
  status: number;
  headers: Headers;
  /** JSON where it is JSON, else text. */
  body: unknown;
}

export interface RestRequest {
  token?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

/** The JSON of an answer, as whatever the test knows it to be. */
export type Json = Record<string, unknown> & { code?: string; details?: Record<string, unknown> };

export class RestClient {
  constructor(
    private readonly gateway: Pick<RunningGateway, 'url'>,
    /** The administrator's unless another is given; null: none. */
    private readonly token: string | null = ADMIN_TOKEN,
  ) {}

  /** `path` is below the prefix and begins with a slash. */
  fetch(method: string, path: string, { token = this.token, headers = {}, body, signal }: RestRequest = {}) {
    return fetch(`${this.gateway.url}${REST_PREFIX}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async ask(method: string, path: string, request: RestRequest = {}): Promise<RestAnswer> {
    const response = await this.fetch(method, path, request);
    const isJson = /json(?:;|$)/.test(response.headers.get('content-type') ?? '');
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  }

  /** The JSON of an answer that is a success. */
  async json<T = Json>(method: string, path: string, request: RestRequest = {}): Promise<T> {
    const { status, body } = await this.ask(method, path, request);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body as T;
  }

  /** Status and code of a refusal. */
  async refusal(method: string, path: string, request: RestRequest = {}): Promise<[number, string | undefined]> {
    const { status, body } = await this.ask(method, path, request);
    return [status, (body as Json).code];
  }
}
