// The numbers of the installation over the socket, and a disk that fills up.
import { PgUsageStore } from '#persistence';
import { GatewayFixture } from './gateway-fixture.js';

let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await GatewayFixture.create();
});
afterAll(() => fixture.close());

const load = (freeBytes: number) => ({
  cpuPercent: 12,
  memoryUsedBytes: 1_048_576,
  memoryTotalBytes: 4 * 1_048_576,
  disks: [{ disk: 'data', freeBytes, totalBytes: 1_000 }],
});

it('RET-17 stats come at once and then regularly to those who asked', async () => {
  const gateway = await fixture.gateway({ tuning: { statsMs: 50 } });
  const [client, silent] = [await fixture.client(gateway), await fixture.client(gateway)];
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute_command', { project_id, command: 'x' });
  const run = await fixture.host.claim(run_id);
  await (await fixture.host.startProcess(run)).write('12345');
  await new PgUsageStore(fixture.database.db).reportLoad(fixture.host.lease, load(500));
  const first = await client.call('stats_subscribe', {});
  expect(first).toMatchObject({
    connections: 2,
    output_bytes: 5,
    queues: [{ host_id: fixture.host.lease.hostId, state: 'running', count: 1 }],
    hosts: [
      { held: true, cpu_percent: 12, memory_mb: 1, memory_total_mb: 4, disks: [{ disk: 'data', free_bytes: 500 }] },
    ],
  });
  expect(first.projects).toBeGreaterThan(0);
  expect(first.project_states.EXECUTING).toBe(1);
  expect(first.database_bytes).toBeGreaterThan(1_000_000);
  expect((await client.waitFor('stats')).events).toBe(first.events);
  await client.call('stats_unsubscribe', {});
  expect(silent.all('stats')).toEqual([]);
  await fixture.host.finish(run);
});

it('RET-15 metrics show what is stored', async () => {
  const gateway = await fixture.gateway();
  const page = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(page).toMatch(/gantry_database_bytes\{service="gateway"\} [1-9]\d{6,}/);
  expect(page).toMatch(/gantry_output_bytes\{service="gateway"\} 5\n/);
  expect(page).toMatch(/gantry_events\{service="gateway"\} [1-9]/);
});

it('RET-16 a disk that is nearly full degrades health, is told to clients and logged once', async () => {
  const usage = new PgUsageStore(fixture.database.db);
  const gateway = await fixture.gateway({ tuning: { statsMs: 30 }, env: { GANTRY_DISK_WARN_FREE_PERCENT: '20' } });
  const client = await fixture.client(gateway);
  await usage.reportLoad(fixture.host.lease, load(190));
  expect(await client.waitFor('server_notice', ({ code }) => code === 'disk.low')).toMatchObject({
    message: expect.stringContaining('data of host') as string,
  });
  expect(await client.call('health', {})).toMatchObject({ status: 'degraded', checks: { disk: { ok: false } } });
  await client.call('stats_subscribe', {});
  await client.until(() => client.all('stats').length > 2);
  expect(gateway.log.filter(({ msg }) => msg === 'little disk space')).toHaveLength(1);
  await usage.reportLoad(fixture.host.lease, load(210));
  const before = client.all('stats').length;
  await client.until(() => client.all('stats').length > before + 1);
  expect(await client.call('health', {})).toMatchObject({ checks: { disk: { ok: true } } });
  // A worker without the lease says nothing of the host.
  await usage.reportLoad({ ...fixture.host.lease, epoch: 0 }, load(0));
  expect((await usage.read()).hosts[0]?.load?.disks[0]?.freeBytes).toBe(210);
});
