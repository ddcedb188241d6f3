// What the broker does not serve at all, and how it says so: limits, other protocols, malformed requests.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { type ModelStandIn, startModelStandIn } from '#testing';
import {
  type BrokerUnderTest,
  call,
  errorOf,
  open,
  prompt,
  raw,
  read,
  REAL_KEY,
  startBroker,
  TOKEN,
} from './broker-harness.js';

let standIn: ModelStandIn;
let broker: BrokerUnderTest;

beforeAll(async () => {
  standIn = await startModelStandIn({ key: REAL_KEY });
  broker = await startBroker({
    upstreamUrl: standIn.url,
    limits: { bodyBytes: 64 * 1024, headerBytes: 8 * 1024, requestsPerProcess: 2, connections: 8 },
  });
});
afterAll(async () => {
  await broker.close();
  await standIn.close();
});

const HEAD = `Host: x\r\nx-api-key: ${TOKEN}\r\n`;

describe('the broker refuses', () => {
  it.each([
    ['CONNECT', `CONNECT api.example:443 HTTP/1.1\r\n${HEAD}\r\n`],
    [
      'a websocket',
      `GET /broker/anthropic/v1/models HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ],
    [
      'HTTP/2 by upgrade',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nContent-Length: 0\r\n\r\n`,
    ],
    ['HTTP/2 outright', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a greeting in TLS', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    [
      'two lengths',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    ],
    [
      'a folded header',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}a: b\r\n c: d\r\nContent-Length: 0\r\n\r\n`,
    ],
    [
      'a NUL in a header',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}a: b\u0000\r\nContent-Length: 0\r\n\r\n`,
    ],
    [
      'a bare line feed in a header',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}a: b\nx-api-key: c\r\nContent-Length: 0\r\n\r\n`,
    ],
    [
      'a method with a space before the colon',
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])('BRK-2 %s, clearly and for good', async (_name, text) => {
    const before = standIn.requests().length;
    const answer = await raw(broker.socketPath, text);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({
      type: 'error',
      error: { code: 'broker.request_refused', type: 'invalid_request_error' },
    });
    expect(standIn.requests()).toHaveLength(before);
  });

  it('BRK-14 a head that is too large', async () => {
    const answer = await raw(broker.socketPath, `GET / HTTP/1.1\r\nHost: x\r\na: ${'b'.repeat(9000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('request.too_large');
  });

  it('BRK-14 a body that says it is too large, before a byte of it goes up', async () => {
    const before = standIn.requests().length;
    const answer = await call(broker.socketPath, { body: 'x'.repeat(64 * 1024 + 1) });
    expect(errorOf(answer)).toEqual({ status: 413, code: 'request.too_large', type: 'request_too_large' });
    expect(standIn.requests()).toHaveLength(before);
  });

  it('BRK-14 a body that turns out to be too large, and serves the connection on', async () => {
    const connection = connect(broker.socketPath).setEncoding('utf8');
    let seen = '';
    connection.on('data', (text: string) => (seen += text));
    connection.write(`POST /broker/anthropic/v1/messages HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    for (let count = 0; count < 20; count += 1) connection.write(`1000\r\n${'x'.repeat(4096)}\r\n`);
    connection.write(`0\r\n\r\nGET /broker/anthropic/v1/models HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    await once(connection, 'close');
    expect(seen).toMatch(/^HTTP\/1\.1 413 /);
    expect(seen).toMatch(/HTTP\/1\.1 200 OK[\s\S]*claude-opus/);
  });

  it('BRK-14 a third request at once from one process; another process is not hurt', async () => {
    const held = [
      await open(broker.socketPath, { body: prompt('demo:hang 1') }),
      await open(broker.socketPath, { body: prompt('demo:hang 1') }),
    ];
    const third = await call(broker.socketPath, { body: prompt('demo:say a') });
    expect(errorOf(third)).toEqual({ status: 429, code: 'connection.limit_reached', type: 'rate_limit_error' });
    expect(third.headers['retry-after']).toBe('1');
    broker.directory.add('another');
    const headers: [string, string][] = [['x-api-key', 'another']];
    expect((await call(broker.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(200);
    const lines = broker.lines.length;
    held[0]!.destroy();
    await broker.waitForLine((line) => broker.lines.indexOf(line) >= lines && line['caller_left'] === true);
    expect((await call(broker.socketPath, { body: prompt('demo:say a') })).status).toBe(200);
    held[1]!.destroy();
  });

  it('BRK-14 connections above the limit, and takes new ones when others have gone', async () => {
    const idle = Array.from({ length: 8 }, () => connect(broker.socketPath));
    await Promise.all(idle.map((connection) => once(connection, 'connect')));
    await expect(call(broker.socketPath, { body: prompt('demo:say a') })).rejects.toThrow();
    const closed = idle.map((connection) => once(connection, 'close'));
    for (const connection of idle) connection.destroy();
    await Promise.all(closed);
    // The server hears of the closed connections in its next turns.
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect((await call(broker.socketPath, { body: prompt('demo:say a') })).status).toBe(200);
  });

  it('BRK-2 nothing that is only unusual: a wait for 100, many headers, a request after another', async () => {
    const request = httpRequest({
      socketPath: broker.socketPath,
      path: '/broker/anthropic/v1/messages',
      method: 'POST',
      headers: {
        'x-api-key': TOKEN,
        expect: '100-continue',
        ...Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`x-${n}`, '1'])),
      },
    });
    request.flushHeaders();
    await once(request, 'continue');
    request.end(prompt('demo:say a'));
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect((await read(answer)).status).toBe(200);
    expect(standIn.requests().at(-1)!.headers).toHaveProperty('x-149');
  });
});
