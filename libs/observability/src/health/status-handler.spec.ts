// The status pages over real HTTP on a free port.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../logging/create-logger.js';
import { createMetrics, type Metrics } from '../metrics/create-metrics.js';
import { HealthRegistry } from './health-registry.js';
import { createStatusHandler } from './status-handler.js';

const logged: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => void logged.push(line) },
});
let server: Server;
let base: string;

async function serve(health: HealthRegistry, metrics: Metrics): Promise<void> {
  server = createServer(createStatusHandler({ health, metrics, logger }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => new Promise((resolve) => server.close(resolve)));

const metricsPage = (): Metrics => createMetrics({ service: 'test', processMetrics: false });

describe('createStatusHandler', () => {
  it('OBS-14 answers 200 or 503 with the report, for GET and HEAD', async () => {
    const health = new HealthRegistry();
    health.register({ name: 'redis', scope: 'readiness', run: () => Promise.reject(new Error('away')) });
    await serve(health, metricsPage());
    const alive = await fetch(`${base}/healthz`);
    expect(alive.status).toBe(200);
    const ready = await fetch(`${base}/readyz?verbose=1`);
    expect(ready.status).toBe(503);
    expect(ready.headers.get('cache-control')).toBe('no-store');
    expect(await ready.json()).toMatchObject({ status: 'failed', checks: { redis: { status: 'failed' } } });
    const head = await fetch(`${base}/readyz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([503, '']);
  });

  it('OBS-14 serves the metrics as Prometheus text', async () => {
    await serve(new HealthRegistry(), metricsPage());
    const answer = await fetch(`${base}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await answer.text()).toContain('gantry_connections{service="test"} 0');
  });

  it('OBS-14 says 404 to other paths, 405 to other methods, and knows no inherited names', async () => {
    await serve(new HealthRegistry(), metricsPage());
    expect((await fetch(`${base}/elsewhere`)).status).toBe(404);
    expect((await fetch(`${base}/constructor`)).status).toBe(404);
    expect((await fetch(`${base}/healthz`, { method: 'POST' })).status).toBe(405);
  });

  it('OBS-14 answers 500 and logs when a page cannot be made', async () => {
    const broken: Metrics = { ...metricsPage(), render: () => Promise.reject(new Error('registry broken')) };
    await serve(new HealthRegistry(), broken);
    const answer = await fetch(`${base}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([500, 'The page could not be made.\n']);
    expect(logged.join('')).toContain('registry broken');
  });

  it('OBS-14 lets other paths pass to the next middleware where there is one', async () => {
    const handler = createStatusHandler({ health: new HealthRegistry(), metrics: metricsPage(), logger });
    server = createServer((request, response) => handler(request, response, () => response.end('app')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${url}/index.html`)).text()).toBe('app');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
