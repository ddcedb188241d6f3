// Waiting for a run's end over HTTP, the bound of requests under way, and the end of a gateway.
import { join } from 'node:path';
import { newId } from '#kernel';
import type { ProjectInfo, RunInfo } from '#protocol';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { type Json, RestClient } from './rest-client.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let admin: RestClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({ tuning: { maxPending: 3 } });
  admin = new RestClient(gateway);
});
afterAll(() => fixture.close());
beforeEach(() => {
  fixture.host.silent = false;
});

async function command(query = ''): Promise<RunInfo> {
  const { project_id } = await admin.json<ProjectInfo>('POST', '/projects', {
    body: { path: join(fixture.root, newId()) },
  });
  return admin.json<RunInfo>('POST', `/projects/${project_id}/runs${query}`, {
    body: { kind: 'command', command: 'true' },
  });
}

it.each([false, true])(
  'REST-11 answers when the run is over, and at the latest after the time (silent: %s)',
  async (silent) => {
    const made = await command('?wait=50');
    expect(made.status).toBe('dispatched');
    const run = await fixture.host.claim(made.run_id);
    await fixture.host.startProcess(run);
    const waiting = admin.json<RunInfo>('GET', `/runs/${made.run_id}?wait=20000`);
    fixture.host.silent = silent;
    await fixture.host.finish(run, 3);
    expect(await waiting).toMatchObject({ status: 'succeeded', exit_code: 3 });
    expect(await admin.json('GET', `/runs/${made.run_id}?wait=20000`)).toMatchObject({ status: 'succeeded' });
  },
);

it('REST-11 waits for the end of what it cancels, and refuses a wait beyond the limit', async () => {
  const made = await command();
  const run = await fixture.host.claim(made.run_id);
  await fixture.host.startProcess(run);
  const cancelling = admin.json<RunInfo>('POST', `/runs/${made.run_id}/cancel?wait=20000`);
  await fixture.host.finish(run);
  // Whether it ended before or after the wish: the answer is about a run that is over, or says that it was.
  expect(await cancelling.catch(() => ({ finished_at: 'before' }))).toHaveProperty('finished_at');
  expect(await admin.refusal('GET', `/runs/${made.run_id}?wait=60001`)).toEqual([400, 'request.invalid_payload']);
});

it('REST-12 says 429 to more requests of one user than may be under way, and lets others ask', async () => {
  const made = await command();
  const stop = new AbortController();
  const waiting = Array.from({ length: 3 }, () =>
    admin.fetch('GET', `/runs/${made.run_id}?wait=30000`, { signal: stop.signal }).catch(() => 'gone'),
  );
  const refused = await firstRefusal(made.run_id);
  expect([refused.status, (refused.body as Json).code, refused.headers.get('retry-after')]).toEqual([
    429,
    'request.rate_limited',
    '1',
  ]);
  const { token } = await fixture.user({ projectId: made.project_id, role: 'viewer' });
  expect((await new RestClient(gateway, token).ask('GET', `/runs/${made.run_id}`)).status).toBe(200);
  stop.abort();
  expect(await Promise.all(waiting)).toEqual(['gone', 'gone', 'gone']);
  expect(await firstAnswer(made.run_id)).toBe(200);
});

/** Asks until all places are taken: those who wait may not have arrived yet. */
async function firstRefusal(runId: string) {
  for (;;) {
    const answer = await admin.ask('GET', `/runs/${runId}`);
    if (answer.status !== 200) return answer;
  }
}

/** Asks until a place is free: those who left may not have gone yet. */
async function firstAnswer(runId: string) {
  for (;;) {
    const { status } = await admin.ask('GET', `/runs/${runId}`);
    if (status !== 429) return status;
  }
}

it('REST-13 answers those who wait when the gateway goes away, and refuses new requests', async () => {
  const leaving = await fixture.gateway({ tuning: { drainSpreadMs: 2000 } });
  const client = new RestClient(leaving);
  const made = await command();
  const waiting = client.ask('GET', `/runs/${made.run_id}?wait=60000`);
  while (!leaving.log.some((line) => line['msg'] === 'request')) {
    await client.ask('GET', `/runs/${made.run_id}`); // the one that waits was accepted before this one
  }
  const closing = leaving.app.close();
  const answer = await waiting;
  expect([answer.status, (answer.body as RunInfo).status]).toEqual([200, 'dispatched']);
  await closing;
});

it('REST-19 answers what takes too long with 504, and says that it may be tried again', async () => {
  const hasty = new RestClient(await fixture.gateway({ tuning: { requestDeadlineMs: 100 } }));
  const made = await command();
  const release = await fixture.lockProject(made.project_id);
  const { status, body } = await hasty.ask('PATCH', `/projects/${made.project_id}`, { body: { name: 'late' } });
  await release();
  expect([status, body]).toEqual([504, expect.objectContaining({ code: 'service.timeout', retryable: true })]);
});
