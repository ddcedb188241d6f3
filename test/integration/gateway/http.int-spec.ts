// What the gateway serves over HTTP: the page, its status, and errors.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

const TLS = join(process.cwd(), 'test', 'fixtures', 'tls');

let fixture: GatewayFixture;
let gateway: RunningGateway;
let webDir: string;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  webDir = await mkdtemp(join(tmpdir(), 'gantry-web-'));
  await mkdir(join(webDir, 'assets'));
  await writeFile(join(webDir, 'index.html'), '<!doctype html><title>Gantry</title>');
  await writeFile(join(webDir, 'assets', 'app-4f2a9c.js'), 'export {};');
  await writeFile(join(webDir, '..', 'outside.txt'), 'outside');
  gateway = await fixture.gateway({ env: { GATEWAY_WEB_DIR: webDir } });
});
afterAll(async () => {
  await fixture.close();
  await rm(webDir, { recursive: true, force: true });
});

const page = { headers: { accept: 'text/html,application/xhtml+xml' } };

it.each(['/', '/index.html', '/projects/0190f3a4', '/some/deep/path'])('GW-44 serves the page at %s', async (path) => {
  const response = await fetch(`${gateway.url}${path}`, page);
  expect([response.status, await response.text()]).toEqual([200, '<!doctype html><title>Gantry</title>']);
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-powered-by')).toBeNull();
});

it('GW-44 keeps hashed assets for ever', async () => {
  const response = await fetch(`${gateway.url}/assets/app-4f2a9c.js`);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.get('content-type')).toMatch(/javascript/);
});

it.each(['/assets/app-gone.js', '/api/v1/nothing', '/metrics/x', '/favicon.ico'])(
  'GW-43 answers %s with a problem document',
  async (path) => {
    const response = await fetch(`${gateway.url}${path}`, path.startsWith('/api') ? page : {});
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect(await response.json()).toMatchObject({
      type: 'about:blank',
      status: 404,
      code: 'request.unknown_route',
      correlation_id: expect.any(String) as string,
    });
  },
);

it.each(['/../outside.txt', '/assets/../../outside.txt', '/%2e%2e/outside.txt', '/..%2foutside.txt', '/%ff', '/a%00b'])(
  'GW-44 never leaves its folder: %s',
  async (path) => {
    const { port } = new URL(gateway.url);
    const { connect } = await import('node:net');
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(answer).not.toContain('\r\n\r\noutside');
    expect(answer).not.toContain(webDir);
  },
);

it('GW-43 refuses other methods', async () => {
  const response = await fetch(`${gateway.url}/`, { method: 'POST', body: '{"a":', ...page });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'request.unknown_route' });
});

it('GW-43 serves no page without a client, but says so', async () => {
  const bare = await fixture.gateway();
  const response = await fetch(`${bare.url}/`, page);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, 'request.unknown_route']);
});

it('GW-41 serves health, readiness and metrics', async () => {
  const client = await fixture.client(gateway);
  await client.refusal('nothing', {});
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  const ready = (await (await fetch(`${gateway.url}/readyz`)).json()) as { checks: object };
  expect(Object.keys(ready.checks).sort()).toEqual(['migrations', 'postgres', 'redis', 'startup']);
  const { project_id } = await fixture.project(client);
  await client.call('execute', { project_id, prompt: 'x' });
  await client.call('execute', { project_id, prompt: 'y' });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/gantry_connections\{service="gateway"\} 1/);
  expect(metrics).toMatch(/gantry_errors_total\{code="request.unknown_event",service="gateway"\} 1/);
  expect(metrics).toMatch(/gantry_queue_depth\{host="[0-9a-f-]{36}",state="queued",service="gateway"\} 1/);
});

it('GW-47 speaks TLS with a certificate of its own', async () => {
  const ca = await readFile(join(TLS, 'localhost.crt'), 'utf8');
  const secure = await fixture.gateway({
    env: { CERT_FILE: join(TLS, 'localhost.crt'), KEY_FILE: join(TLS, 'localhost.key'), GATEWAY_WEB_DIR: webDir },
  });
  expect(secure.url).toMatch(/^https:/);
  const client = await fixture.client(secure, { ca, origin: secure.url });
  expect(client.hello.user.name).toBe('admin');
  const asked = get(`${secure.url}/`, { ca, headers: { accept: 'text/html' } });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(await text(response)).toContain('Gantry');
  expect(response.headers['strict-transport-security']).toMatch(/^max-age=/);
});
