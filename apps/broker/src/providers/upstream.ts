// The way to a provider: its base URL, a proxy if there is one, connections kept alive between requests, and two deadlines.
import { Agent as HttpAgent, type ClientRequest, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { AppError } from '#kernel';
import { isLoopback, type Secret } from '#config';
import { type HeaderList, toRaw } from '../http/header-list.js';

export interface UpstreamOptions {
  /** https, or http on loopback. May have a path, which is put before every request's. */
  baseUrl: string;
  /** Proxy for https upstreams beyond loopback, reached with CONNECT: it never sees a header. */
  proxyUrl?: Secret | undefined;
  /** Until the connection, its TLS and a proxy's answer stand; default 10 s. */
  connectTimeoutMs?: number;
  /** Without a byte in either direction; default 15 min, because a model may think for minutes before its first word. */
  idleTimeoutMs?: number;
  /** How long a connection is kept without a request; default 60 s. */
  freeConnectionMs?: number;
}

export interface Upstream {
  /** Opens a request; its errors are emitted. `path` is absolute and may have a query. */
  open(method: string, path: string, headers: HeaderList): ClientRequest;
  /** Closes idle connections. */
  close(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 15 * 60_000;
/** An idle connection older than this may be dead without our knowing (address translation forgets); a new one is cheaper than a lost request. */
const FREE_CONNECTION_MS = 60_000;

export function createUpstream(options: UpstreamOptions): Upstream {
  const base = parseBaseUrl(options.baseUrl);
  const agent = createAgent(base, options.proxyUrl, options.freeConnectionMs ?? FREE_CONNECTION_MS);
  const send = base.protocol === 'https:' ? httpsRequest : httpRequest;
  const idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  const prefix = base.pathname.replace(/\/$/, '');
  return {
    open: (method, path, headers) => {
      const request = send({
        agent,
        // Said outright: the proxy's agent else guesses it from the call stack, differently when a connection comes free, and keeps none.
        protocol: base.protocol,
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port === '' ? undefined : base.port,
        method,
        path: prefix + path,
        headers: toRaw([['host', base.host], ...headers]),
        timeout: idleTimeoutMs,
      });
      request.on('timeout', () => request.destroy(new AppError('service.timeout', 'The model API went silent.')));
      limitConnect(request, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
      refuseByProxy(request);
      return request;
    },
    close: () => agent.destroy(),
  };
}

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new AppError('config.invalid', 'The base URL of the model API is not an http or https URL.');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new AppError('config.invalid', 'The base URL of the model API must be https: it carries the key.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new AppError('config.invalid', 'The base URL of the model API must have no user, query or fragment.');
  }
  return url;
}

function createAgent(base: URL, proxyUrl: Secret | undefined, freeMs: number): HttpAgent {
  const keep = { keepAlive: true, timeout: freeMs, maxFreeSockets: 64 };
  if (base.protocol === 'http:') return new HttpAgent(keep);
  if (proxyUrl === undefined || isLoopback(base.hostname)) return new HttpsAgent(keep);
  const agent = new HttpsProxyAgent(proxyUrl.reveal(), keep);
  // Its constructor drops what it was given; without this it would keep idle connections for ever.
  Object.assign(agent.options, keep);
  return agent;
}

/** Ends a request whose connection does not come to stand. Once it stands only silence ends it. */
function limitConnect(request: ClientRequest, afterMs: number): void {
  const timer = setTimeout(() => {
    request.destroy(new AppError('broker.upstream_failed', 'The model API could not be reached in time.'));
  }, afterMs);
  const stop = (): void => clearTimeout(timer);
  request.once('close', stop);
  request.once('response', stop);
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) stop();
    else if (socket instanceof TLSSocket) socket.once('secureConnect', stop);
    else if (socket.connecting) socket.once('connect', stop);
    else stop();
  });
}

/** https-proxy-agent hands a proxy's refusal over as if the upstream had said it; it is ours to tell the two apart. */
function refuseByProxy(request: ClientRequest): void {
  request.once('proxyConnect', (answer: { statusCode: number }) => {
    if (answer.statusCode !== 200) {
      request.destroy(
        new AppError('broker.upstream_failed', `The proxy refused the connection (${answer.statusCode}).`),
      );
    }
  });
}
