// What flows through the broker: at once, in both directions, bounded, and ended on both sides when one goes.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type ModelStandIn, startModelStandIn } from '#testing';
import {
  type BrokerSetup,
  type BrokerUnderTest,
  call,
  errorOf,
  open,
  prompt,
  read,
  REAL_KEY,
  type ScriptedUpstream,
  startBroker,
  startUpstream,
  TOKEN,
} from './broker-harness.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function brokerTo(upstreamUrl: string, more: Partial<BrokerSetup> = {}): Promise<BrokerUnderTest> {
  const broker = await startBroker({ upstreamUrl, ...more });
  closers.push(() => broker.close());
  return broker;
}

async function scripted(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(handle);
  closers.push(() => upstream.close());
  return upstream;
}

async function modelStandIn(): Promise<ModelStandIn> {
  const standIn = await startModelStandIn({ key: REAL_KEY });
  closers.push(() => standIn.close());
  return standIn;
}

describe('a stream through the broker', () => {
  it('BRK-11 brings head and bytes the moment they are written', async () => {
    const steps: ServerResponse[] = [];
    const upstream = await scripted((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      steps.push(response);
    });
    const { socketPath } = await brokerTo(upstream.url);
    const answer = await open(socketPath, { body: prompt('x') });
    expect(answer.statusCode).toBe(200);
    for (const piece of ['a', 'b']) {
      steps[0]!.write(piece);
      const [chunk] = (await once(answer, 'data')) as [Buffer];
      expect(chunk.toString()).toBe(piece);
    }
    steps[0]!.end();
    await once(answer, 'end');
  });

  it('BRK-11 carries a request body up as it comes', async () => {
    const upstream = await scripted((request, response) => {
      response.writeHead(200);
      request.pipe(response);
    });
    const { socketPath } = await brokerTo(upstream.url);
    const path = '/broker/anthropic/v1/messages';
    const request = httpRequest({ socketPath, path, method: 'POST', headers: { 'x-api-key': TOKEN }, agent: false });
    request.write('first');
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect(String((await once(answer, 'data'))[0])).toBe('first');
    request.end('second');
    expect(String((await once(answer, 'data'))[0])).toBe('second');
    expect(upstream.received[0]!.headers['transfer-encoding']).toBe('chunked');
  });

  it('BRK-11 holds little in memory for a caller that reads slowly, and loses nothing', async () => {
    const chunk = randomBytes(64 * 1024);
    const total = 512;
    let sent = 0;
    const upstream = await scripted((request, response) => {
      request.resume();
      void (async () => {
        for (let count = 0; count < total; count += 1) {
          sent += chunk.length;
          if (!response.write(chunk)) await once(response, 'drain');
        }
        response.end();
      })();
    });
    const { socketPath } = await brokerTo(upstream.url);
    const answer = await open(socketPath, { body: prompt('x') });
    const hash = createHash('sha256');
    let received = 0;
    let most = 0;
    for await (const piece of answer as AsyncIterable<Buffer>) {
      // The writer gets several turns for each piece that is read.
      for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
      hash.update(piece);
      received += piece.length;
      most = Math.max(most, sent - received);
    }
    const wanted = createHash('sha256');
    for (let count = 0; count < total; count += 1) wanted.update(chunk);
    expect(received).toBe(total * chunk.length);
    expect(hash.digest('hex')).toBe(wanted.digest('hex'));
    // Between writer and reader lie the buffers of two connections; without back-pressure it would be all 32 MiB.
    expect(most).toBeLessThan(10 * 1024 * 1024);
  });

  it('BRK-11 holds little in memory for an upstream that reads slowly', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    let received = 0;
    let most = 0;
    const upstream = await scripted((request, response) => {
      void (async () => {
        for await (const piece of request as AsyncIterable<Buffer>) {
          for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
          received += piece.length;
          most = Math.max(most, sent - received);
        }
        response.end('ok');
      })();
    });
    const { socketPath } = await brokerTo(upstream.url);
    const path = '/broker/anthropic/v1/messages';
    const request = httpRequest({ socketPath, path, method: 'POST', headers: { 'x-api-key': TOKEN }, agent: false });
    const answered = once(request, 'response');
    for (let count = 0; count < 480; count += 1) {
      sent += chunk.length;
      if (!request.write(chunk)) await once(request, 'drain');
    }
    request.end();
    const [answer] = (await answered) as [IncomingMessage];
    expect((await read(answer)).text).toBe('ok');
    expect(received).toBe(480 * chunk.length);
    expect(most).toBeLessThan(10 * 1024 * 1024);
  });

  it('BRK-12 ends the model request when the caller goes', async () => {
    const standIn = await modelStandIn();
    const { socketPath, waitForLine } = await brokerTo(standIn.url);
    const answer = await open(socketPath, { body: prompt('demo:slow 1000 60000') });
    await once(answer, 'readable');
    answer.destroy();
    expect(await standIn.waitForRequest(({ outcome }) => outcome !== 'open')).toMatchObject({ outcome: 'aborted' });
    const line = await waitForLine(({ msg }) => msg === 'request');
    expect(line).toMatchObject({ caller_left: true, status: 200 });
    expect(line).not.toHaveProperty('code');
  });

  it('BRK-12 ends the model request when the caller goes before the answer begins', async () => {
    const standIn = await modelStandIn();
    const { socketPath, waitForLine } = await brokerTo(standIn.url);
    const path = '/broker/anthropic/v1/messages';
    const request = httpRequest({ socketPath, path, method: 'POST', headers: { 'x-api-key': TOKEN }, agent: false });
    request.on('error', () => undefined);
    request.end(prompt('demo:hang'));
    await standIn.waitForRequest(() => true);
    request.destroy();
    expect(await standIn.waitForRequest(({ outcome }) => outcome !== 'open')).toMatchObject({ outcome: 'aborted' });
    expect(await waitForLine(({ msg }) => msg === 'request')).toMatchObject({ caller_left: true, status: 0 });
  });

  it('BRK-12 breaks the connection of the caller when the upstream dies in mid-answer: half is not whole', async () => {
    const standIn = await modelStandIn();
    const { socketPath, waitForLine } = await brokerTo(standIn.url);
    const answer = await open(socketPath, { body: prompt('demo:cut 1 5\ndemo:long 100') });
    let seen = '';
    answer.setEncoding('utf8').on('data', (text: string) => (seen += text));
    await once(answer, 'error');
    expect(seen).toContain('"w4 "');
    expect(answer.complete).toBe(false);
    expect(await waitForLine(({ msg }) => msg === 'request')).toMatchObject({
      code: 'broker.upstream_failed',
      status: 200,
    });
  });

  it('BRK-12 passes an answer on that comes before the request has ended', async () => {
    const upstream = await scripted((_request, response) => {
      response.writeHead(413, { connection: 'close' });
      response.end('too much');
    });
    const { socketPath } = await brokerTo(upstream.url);
    const path = '/broker/anthropic/v1/messages';
    const request = httpRequest({ socketPath, path, method: 'POST', headers: { 'x-api-key': TOKEN }, agent: false });
    request.on('error', () => undefined);
    request.write('begun');
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect(await read(answer)).toMatchObject({ status: 413, text: 'too much' });
    request.destroy();
  });

  it('BRK-11 uses one upstream connection for requests that follow each other', async () => {
    const ports = new Set<number | undefined>();
    const upstream = await scripted((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.end('ok');
    });
    const { socketPath } = await brokerTo(upstream.url);
    for (let count = 0; count < 5; count += 1) await call(socketPath, { body: prompt('x') });
    expect(ports.size).toBe(1);
  });
});

describe('an upstream that fails', () => {
  it('BRK-13 is given up when the connection does not come to stand', async () => {
    // Takes connections and never answers the TLS greeting.
    const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { socketPath } = await brokerTo(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 });
    const answer = await call(socketPath, { body: prompt('x') });
    silent.close();
    expect(errorOf(answer)).toEqual({ status: 503, code: 'broker.upstream_failed', type: 'api_error' });
  });

  it('BRK-13 is given up after its silence, before an answer and in it; a slow first byte is not cut by the connect limit', async () => {
    const upstream = await scripted((request, response) => {
      request.resume();
      if (upstream.received.length > 1) response.writeHead(200).write('a');
    });
    const { socketPath } = await brokerTo(upstream.url, { connectTimeoutMs: 20, idleTimeoutMs: 150 });
    const started = performance.now();
    const answer = await call(socketPath, { body: prompt('x') });
    expect(performance.now() - started).toBeGreaterThan(100);
    expect(errorOf(answer)).toMatchObject({ status: 504, code: 'service.timeout' });
    const begun = await open(socketPath, { body: prompt('x') });
    await expect(read(begun)).rejects.toThrow();
  });

  it('BRK-13 is told apart from the caller when nobody listens', async () => {
    const gone = await startUpstream(() => undefined);
    await gone.close();
    const { socketPath, waitForLine } = await brokerTo(gone.url);
    expect(errorOf(await call(socketPath, { body: prompt('x') }))).toMatchObject({
      status: 503,
      code: 'broker.upstream_failed',
    });
    const line = await waitForLine(({ msg }) => msg === 'request');
    expect(line).toMatchObject({ level: 'warn', code: 'broker.upstream_failed', cause: 'ECONNREFUSED', status: 503 });
  });

  it.each([301, 302, 303, 307, 308, 407])('BRK-10 is not followed to another place (%p)', async (status) => {
    const canary = await scripted((_request, response) => response.end('stolen'));
    const upstream = await scripted((request, response) => {
      request.resume();
      response.writeHead(status, { location: `${canary.url}/v1/messages` });
      response.end('moved');
    });
    const { socketPath } = await brokerTo(upstream.url);
    const answer = await call(socketPath, { body: prompt('x') });
    expect(errorOf(answer)).toMatchObject({ status: 503, code: 'broker.upstream_failed' });
    expect(answer.headers).not.toHaveProperty('location');
    expect(answer.text).not.toContain(canary.url);
    expect(canary.received).toHaveLength(0);
  });

  it('BRK-10 cannot turn the connection into another protocol', async () => {
    const upstream = createTcpServer((connection) => {
      connection.once('data', () =>
        connection.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello'),
      );
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const { socketPath } = await brokerTo(`http://127.0.0.1:${port}`);
    expect(errorOf(await call(socketPath, { body: prompt('x') }))).toMatchObject({ status: 503 });
    upstream.close();
  });
});
