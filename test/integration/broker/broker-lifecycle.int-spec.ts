// How a broker starts, is replaced under way and ends; what its status pages and its log say.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { type ModelStandIn, startModelStandIn } from '#testing';
import { type BrokerUnderTest, call, open, prompt, read, REAL_KEY, startBroker, TOKEN } from './broker-harness.js';

const LONG_MS = 60_000;

let standIn: ModelStandIn;
const brokers: BrokerUnderTest[] = [];

beforeEach(async () => {
  standIn = await startModelStandIn({ key: REAL_KEY });
});
afterEach(async () => {
  for (const broker of brokers.splice(0)) await broker.close();
  await standIn.close();
});

async function start(more: { socketPath?: string } = {}): Promise<BrokerUnderTest> {
  const broker = await startBroker({ upstreamUrl: standIn.url, ...more });
  brokers.push(broker);
  return broker;
}

/** Connections that were waiting already are still served; the first one after them is refused, or reset if it came in that very moment. */
async function askUntilRefused(socketPath: string): Promise<string | undefined> {
  for (;;) {
    try {
      await call(socketPath, { method: 'GET', path: '/healthz' });
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  }
}

const SLOW = prompt('demo:slow 12 25');
const isWhole = (text: string): boolean => text.includes('"w11"') && text.includes('message_stop');

describe('a broker that is told to stop', () => {
  it('BRK-17 lets a running stream end, takes no new connection, and is done', async () => {
    const { broker, socketPath } = await start();
    const answer = await open(socketPath, { body: SLOW });
    const drained = broker.drain(LONG_MS);
    const text = read(answer);
    expect(await askUntilRefused(socketPath)).toMatch(/^ECONN(REFUSED|RESET)$/);
    expect(isWhole((await text).text)).toBe(true);
    await drained;
  });

  it('BRK-17 does not wait for connections that only stay open', async () => {
    const { broker, socketPath } = await start();
    const agent = new Agent({ keepAlive: true });
    const request = httpRequest({ socketPath, agent, method: 'GET', path: '/healthz' });
    request.end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await read(answer);
    const busy = await open(socketPath, { body: SLOW });
    const drained = broker.drain(LONG_MS);
    expect(isWhole((await read(busy)).text)).toBe(true);
    await drained;
    agent.destroy();
  });

  it('BRK-17 breaks off what is left at its limit', async () => {
    const { broker, socketPath, waitForLine } = await start();
    const answer = await open(socketPath, { body: prompt('demo:hang 1') });
    const broken = expect(read(answer)).rejects.toThrow();
    await broker.drain(20);
    await broken;
    expect(await waitForLine(({ msg }) => msg === 'drain limit reached, breaking off')).toMatchObject({ requests: 1 });
    expect(await standIn.waitForRequest(({ outcome }) => outcome !== 'open')).toMatchObject({ outcome: 'aborted' });
  });
});

describe('a broker that takes over from another', () => {
  it('BRK-16 gets all new requests, while a stream of the old one runs to its end', async () => {
    const old = await start();
    const running = await open(old.socketPath, { body: SLOW });
    const text = read(running);
    const next = await start({ socketPath: old.socketPath });
    next.directory.add('only-the-new-one-knows');
    const headers: [string, string][] = [['x-api-key', 'only-the-new-one-knows']];
    const drained = old.broker.drain(LONG_MS);
    expect((await call(old.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(200);
    expect(isWhole((await text).text)).toBe(true);
    await drained;
    expect((await call(old.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(200);
  });

  it('BRK-16 loses no request of callers that never stop asking, in ten hand-overs', async () => {
    let current = await start();
    const { socketPath } = current;
    const stop = new AbortController();
    let answered = 0;
    const asking = Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) {
        const answer = await call(socketPath, { body: prompt('demo:say a') });
        expect(answer.status).toBe(200);
        answered += 1;
      }
    });
    for (let count = 0; count < 10; count += 1) {
      const next = await start({ socketPath });
      await current.broker.drain(LONG_MS);
      current = next;
      const before = answered;
      while (answered < before + 10) await new Promise(setImmediate);
    }
    stop.abort();
    await Promise.all(asking);
    expect(answered).toBeGreaterThanOrEqual(100);
  });
});

describe('the status pages', () => {
  const page = (socketPath: string, path: string): ReturnType<typeof call> =>
    call(socketPath, { method: 'GET', path, headers: [] });

  it('BRK-18 say that it lives and whether it can serve', async () => {
    const well = await start();
    expect(await page(well.socketPath, '/healthz')).toMatchObject({ status: 200 });
    const ready = await page(well.socketPath, '/readyz');
    expect(JSON.parse(ready.text)).toMatchObject({ status: 'ok', checks: { token_directory: { status: 'ok' } } });

    const ill = await start();
    ill.directory.outage = 'fail';
    expect(await page(ill.socketPath, '/healthz')).toMatchObject({ status: 200 });
    const failed = await page(ill.socketPath, '/readyz');
    expect(failed.status).toBe(503);
    expect(failed.text).not.toContain('The directory is down');
  });

  it('BRK-18 show numbers by provider and status, and nothing about who asked', async () => {
    const { socketPath, directory, waitForLine } = await start();
    const owner = directory.add('counted', 'run-7');
    await call(socketPath, { headers: [['x-api-key', 'counted']], body: prompt('demo:say a') });
    await call(socketPath, { headers: [], body: prompt('demo:say a') });
    await waitForLine(({ status }) => status === 401);
    const { text } = await page(socketPath, '/metrics');
    expect(text).toContain('gantry_broker_requests_total{provider="anthropic",status="200",service="broker"} 1');
    expect(text).toContain('gantry_broker_requests_total{provider="none",status="401",service="broker"} 1');
    expect(text).toMatch(/gantry_broker_active_requests\{service="broker"\} 0/);
    expect(text).toMatch(/gantry_broker_bytes_total\{provider="anthropic",direction="down",service="broker"\} [1-9]/);
    for (const private_ of [
      owner.projectId,
      owner.processId,
      'run-7',
      'counted',
      REAL_KEY,
      standIn.url,
      '/v1/messages',
    ]) {
      expect(text).not.toContain(private_);
    }
  });
});

describe('the log', () => {
  it('BRK-19 has one line per request with who and how long, and neither headers nor bodies nor tokens', async () => {
    const { socketPath, directory, lines, waitForLine } = await start();
    const owner = directory.add('a-token-that-must-not-be-logged', 'run-7');
    await call(socketPath, {
      path: '/broker/anthropic/v1/messages?private=query',
      headers: [
        ['x-api-key', 'a-token-that-must-not-be-logged'],
        ['x-private', 'header-value'],
      ],
      body: prompt('demo:say private words'),
    });
    const line = await waitForLine(({ msg }) => msg === 'request');
    expect(line).toMatchObject({
      level: 'info',
      service: 'broker',
      method: 'POST',
      provider: 'anthropic',
      route: 'messages',
      status: 200,
      duration_ms: expect.any(Number) as number,
      process_id: owner.processId,
      project_id: owner.projectId,
      session_id: owner.sessionId,
      run_id: 'run-7',
    });
    expect(lines.filter(({ msg }) => msg === 'request')).toHaveLength(1);
    const text = JSON.stringify(lines);
    for (const private_ of ['a-token-that-must-not-be-logged', 'header-value', 'private', REAL_KEY, TOKEN]) {
      expect(text).not.toContain(private_);
    }
  });

  it('BRK-19 is not filled by a caller without a token', async () => {
    const { socketPath, lines } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const ask = async (): Promise<number> => {
      const request = httpRequest({ socketPath, agent, method: 'GET', path: '/broker/anthropic/v1/models' });
      request.end();
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      return (await read(answer)).status;
    };
    const started = performance.now();
    const statuses = await Promise.all(Array.from({ length: 300 }, ask));
    const seconds = Math.ceil((performance.now() - started) / 1000) + 1;
    agent.destroy();
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(lines.length).toBeLessThanOrEqual(20 * seconds);
  });
});
