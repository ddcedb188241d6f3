// A gateway that starts before its services, loses one, and leaves.
import { CallError, SocketClient, testEnv } from '#testing';
import { eventually } from './eventually.js';
import { ADMIN_TOKEN, GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { LateProxy } from './late-proxy.js';

let fixture: GatewayFixture;
let postgres: LateProxy;
let redis: LateProxy;

beforeEach(async () => {
  fixture = await GatewayFixture.create();
  postgres = await LateProxy.to(fixture.database.url);
  redis = await LateProxy.to(testEnv().redisUrl);
});
afterEach(async () => {
  await fixture.close();
  await postgres.close();
  await redis.close();
});

const behindProxies = (): Record<string, string> => ({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });

interface Readiness {
  status: string;
  checks: Record<string, { status: string; error?: { code: string } }>;
}
const readiness = async ({ url }: RunningGateway): Promise<{ http: number } & Readiness> => {
  const response = await fetch(`${url}/readyz`);
  return { http: response.status, ...((await response.json()) as Readiness) };
};

it('GW-41, GW-42 listens before its services are there, says what is missing, and gets ready by itself', async () => {
  const gateway = await fixture.gateway({ env: behindProxies(), early: true });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  const starting = await readiness(gateway);
  expect(starting.http).toBe(503);
  expect(starting.checks).toMatchObject({
    postgres: { status: 'failed', error: { code: 'service.unavailable' } },
    redis: { status: 'failed' },
    startup: { status: 'failed' },
  });
  const early = await fetch(`${gateway.url}/`);
  expect([early.status, early.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
  await expect(SocketClient.connect(gateway.url, { token: ADMIN_TOKEN })).rejects.toThrow(/websocket error/);

  await postgres.open();
  await gateway.app.ready;
  // Redis is still away: clients are served all the same.
  const client = await fixture.client(gateway);
  const path = `${fixture.root}/x`;
  expect(await client.refusal('project_create', { path })).toMatchObject({ code: 'host.unavailable', retryable: true });
  expect((await client.call('health', {})).status).toBe('degraded');

  await redis.open();
  await eventually(
    () => readiness(gateway),
    ({ http }) => http === 200,
  );
  expect((await client.call('project_create', { path })).path).toBe(path);
  expect(await client.call('health', {})).toMatchObject({ status: 'ok', checks: { workers: { ok: true } } });
});

it('GW-23, GW-42 goes on without Redis: what is committed is acknowledged and watched, and told when it is back', async () => {
  await postgres.open();
  await redis.open();
  const gateway = await fixture.gateway({ env: behindProxies() });
  const other = await fixture.gateway({ env: behindProxies() });
  const client = await fixture.client(gateway);
  const { project_id } = await fixture.project(client);
  const watcher = await fixture.client(other);
  await watcher.call('project_join', { project_id });

  await redis.close();
  const startedAt = performance.now();
  const run = await client.call('execute', { project_id, prompt: 'while Redis is away' });
  expect(performance.now() - startedAt).toBeLessThan(2000);
  expect(run.status).toBe('dispatched');
  await watcher.waitFor('event', ({ type }) => type === 'message.user');
  const late = await fixture.client(other);
  expect((await late.call('project_join', { project_id })).events.map(({ type }) => type)).toContain('message.user');

  await redis.open();
  await eventually(
    () => readiness(other),
    ({ http }) => http === 200,
  );
  await client.call('execute', { project_id, prompt: 'Redis is back' });
  await late.waitFor('event', ({ payload }) => payload['text'] === 'Redis is back');
  const seqs = watcher.all('event').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + seqs[0]!));
});

it('GW-42, GW-48 answers with a retryable error while Postgres is away, says so, and recovers', async () => {
  await postgres.open();
  await redis.open();
  const gateway = await fixture.gateway({ env: behindProxies() });
  const client = await fixture.client(gateway);
  await postgres.close();
  expect(await client.refusal('project_list', {})).toMatchObject({ code: 'service.unavailable', retryable: true });
  expect((await client.call('health', {})).status).toBe('down');
  const refused = await SocketClient.connect(gateway.url, { token: ADMIN_TOKEN }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CallError);
  expect((refused as CallError).error).toMatchObject({ code: 'service.unavailable', retryable: true });
  await postgres.open();
  await eventually(
    () => readiness(gateway),
    ({ http }) => http === 200,
  );
  expect((await client.call('project_list', {})).projects).toEqual([]);
});

it('GW-41 is not ready on a database that lacks migrations, and waits for them', async () => {
  await postgres.open();
  await redis.open();
  const rows = (sql: string) => fixture.database.db.run((db) => db.$executeRawUnsafe(sql));
  await rows('ALTER TABLE _prisma_migrations RENAME TO kept');
  const gateway = await fixture.gateway({ env: behindProxies(), early: true });
  expect((await readiness(gateway)).checks).toMatchObject({
    postgres: { status: 'ok' },
    migrations: { status: 'failed', error: { code: 'service.unavailable' } },
  });
  await rows('ALTER TABLE kept RENAME TO _prisma_migrations');
  await gateway.app.ready;
});

it('GW-45 tells its clients, finishes what was begun, lets them reconnect elsewhere and takes nobody new', async () => {
  const [leaving, staying] = [await fixture.gateway({ tuning: { drainSpreadMs: 1500 } }), await fixture.gateway()];
  const client = await fixture.client(leaving);
  const { project_id } = await fixture.project(client);
  const others = await Promise.all(Array.from({ length: 20 }, () => fixture.client(leaving)));
  const release = await fixture.lockProject(project_id);
  const begun = client.call('project_update', { project_id, name: 'begun before the end' });
  await client.call('ping', {}); // so the update has arrived
  const ends = others.map((one) => one.disconnected());

  const startedAt = performance.now();
  const closed = leaving.app.close();
  await client.waitFor('server_notice', ({ code }) => code === 'service.draining');
  expect((await readiness(leaving)).http).toBe(503);
  const refused = await SocketClient.connect(leaving.url, { token: ADMIN_TOKEN }).catch((error: unknown) => error);
  expect(refused).not.toBeInstanceOf(SocketClient);
  expect(others.every(({ socket }) => socket.connected)).toBe(true);
  await release();
  expect((await begun).name).toBe('begun before the end');

  // Not `io server disconnect`, after which socket.io does not reconnect.
  for (const { reason } of await Promise.all(ends)) expect(reason).toBe('transport close');
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(5000);
  await expect(fetch(`${leaving.url}/healthz`)).rejects.toThrow();
  expect((await (await fixture.client(staying)).call('project_list', {})).projects).toHaveLength(1);
});

it('GW-45 closes before it was ever ready', async () => {
  const gateway = await fixture.gateway({ env: behindProxies(), early: true });
  await gateway.app.close();
  await expect(gateway.app.ready).rejects.toMatchObject({ code: 'service.draining' });
});

it('GW-45 closes without Redis', async () => {
  await postgres.open();
  await redis.open();
  const gateway = await fixture.gateway({ env: behindProxies() });
  const client = await fixture.client(gateway);
  const { project_id } = await fixture.project(client);
  await client.call('project_join', { project_id });
  await redis.close();
  const startedAt = performance.now();
  await gateway.app.close();
  expect(performance.now() - startedAt).toBeLessThan(4000);
});

it('GW-48 says degraded while no worker holds a host', async () => {
  const gateway = await fixture.gateway();
  const client = await fixture.client(gateway);
  await fixture.database.db.run(({ host }) => host.updateMany({ data: { leaseUntil: new Date(0) } }));
  expect(await client.call('health', {})).toMatchObject({
    status: 'degraded',
    checks: { workers: { ok: false }, postgres: { ok: true } },
    version: '0.0.0-test',
  });
  expect((await readiness(gateway)).http).toBe(200);
});
