// Scripts and a gateway whose database goes away.
import { join } from 'node:path';
import { newId } from '#kernel';
import type { ProjectInfo, RunInfo } from '#protocol';
import { GatewayFixture } from './gateway-fixture.js';
import { LateProxy } from './late-proxy.js';
import { RestClient } from './rest-client.js';

let fixture: GatewayFixture;
let postgres: LateProxy;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  postgres = await LateProxy.to(fixture.database.url);
});
afterAll(async () => {
  await fixture.close();
  await postgres.close();
});

/** What a script has to see to know that it may ask again. */
async function refusal(client: RestClient, path: string) {
  const { status, headers, body } = await client.ask('GET', path);
  return [
    status,
    headers.get('retry-after'),
    headers.get('content-type')?.split(';')[0],
    headers.get('content-disposition'),
    headers.get('x-correlation-id') === (body as { correlation_id: string }).correlation_id,
    (body as { code: string }).code,
  ];
}
const AWAY = [503, '1', 'application/problem+json', null, true, 'service.unavailable'];

it('REST-20 says 503 and when to ask again: before it is ready, and while Postgres is away', async () => {
  const gateway = await fixture.gateway({ env: { DATABASE_URL: postgres.url }, early: true });
  const client = new RestClient(gateway);
  expect(await refusal(client, '/projects')).toEqual(AWAY);
  await postgres.open();
  await gateway.app.ready;
  const { project_id } = await client.json<ProjectInfo>('POST', '/projects', {
    body: { path: join(fixture.root, newId()) },
  });
  const { run_id } = await client.json<RunInfo>('POST', `/projects/${project_id}/runs`, {
    body: { kind: 'command', command: 'true' },
  });
  await postgres.close();
  const paths = ['/projects', `/runs/${run_id}?wait=10000`, `/runs/${run_id}/output`];
  for (const path of [...paths, `/projects/${project_id}/messages.jsonl`]) {
    expect([path, ...(await refusal(client, path))]).toEqual([path, ...AWAY]);
  }
  await postgres.open();
  expect(await client.json('GET', `/runs/${run_id}`)).toMatchObject({ run_id });
});
