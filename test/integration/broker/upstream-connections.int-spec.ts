// Connections to the upstream between requests: kept for a while, never for ever, directly and through a proxy.
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Secret } from '#config';
import { selfSignedCertificate } from '#testing';
import { createUpstream, type Upstream } from '../../../apps/broker/src/providers/upstream.js';

const FREE_MS = 50;
const HOST = 'model.example';
const authorities = getCACertificates('default');
const servers: Server[] = [];

afterEach(async () => {
  setDefaultCACertificates(authorities);
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Longer than a free connection lives: the limit of an idle connection must not cut one that waits for a model. */
function answerLate(_request: unknown, response: ServerResponse): void {
  setTimeout(() => response.end('ok'), 2 * FREE_MS);
}

async function ask(upstream: Upstream): Promise<number | undefined> {
  const request = upstream.open('GET', '/v1/models', []);
  request.end();
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream & { statusCode?: number }];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

describe('a connection to the upstream', () => {
  it('BRK-11 is used again, and given up when nobody needs it', async () => {
    const sockets: Socket[] = [];
    const server = createHttpServer(answerLate);
    server.on('connection', (socket) => sockets.push(socket));
    const upstream = createUpstream({ baseUrl: `http://127.0.0.1:${await listen(server)}`, freeConnectionMs: FREE_MS });
    await ask(upstream);
    await ask(upstream);
    expect(sockets).toHaveLength(1);
    await once(sockets[0]!, 'close');
    expect(await ask(upstream)).toBe(200);
    expect(sockets).toHaveLength(2);
    upstream.close();
  });

  it('BRK-11, BRK-15 is used again and given up through a proxy too', async () => {
    const { cert, key } = selfSignedCertificate(HOST);
    setDefaultCACertificates([...authorities, cert]);
    const target = await listen(createHttpsServer({ cert, key }, answerLate));
    const tunnels: Socket[] = [];
    const proxy = createHttpServer();
    proxy.on('connect', (_request, near: Socket) => {
      tunnels.push(near);
      const far = connect(target, '127.0.0.1', () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
    });
    const proxyUrl = new Secret(`http://127.0.0.1:${await listen(proxy)}`);
    const upstream = createUpstream({ baseUrl: `https://${HOST}`, proxyUrl, freeConnectionMs: FREE_MS });
    await ask(upstream);
    await ask(upstream);
    expect(tunnels).toHaveLength(1);
    await once(tunnels[0]!, 'close');
    expect(await ask(upstream)).toBe(200);
    expect(tunnels).toHaveLength(2);
    upstream.close();
  });
});
