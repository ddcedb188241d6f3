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
  await wishOf(made.run_id);
  await fixture.host.finish(run);
  expect(await cancelling).toMatchObject({ status: 'succeeded', finished_at: expect.any(String) as string });
  expect(await admin.refusal('GET', `/runs/${made.run_id}?wait=60001`)).toEqual([400, 'request.invalid_payload']);
});

/** Asks until the wish to cancel is stored. */
async function wishOf(runId: string): Promise<void> {
  const open = () => fixture.database.db.run((client) => client.intent.count({ where: { runId, kind: 'cancel' } }));
  while ((await open()) === 0);
}

it('REST-12 says 429 to more requests of one user than may be under way, and lets others ask', async () => {
  const made = await command();
  const stop = new AbortController();
  // One more than may be under way: whichever comes last is answered at once.
  const waiting = Array.from({ length: 4 }, () =>
    admin.ask('GET', `/runs/${made.run_id}?wait=60000`, { signal: stop.signal }).catch(() => undefined),
  );
  const refused = await Promise.race(waiting);
  if (refused === undefined) throw new Error('a request failed');
  expect([refused.status, (refused.body as Json).code, refused.headers.get('retry-after')]).toEqual([
    429,
    'request.rate_limited',
    '1',
  ]);
  const { token } = await fixture.user({ projectId: made.project_id, role: 'viewer' });
  expect((await new RestClient(gateway, token).ask('GET', `/runs/${made.run_id}`)).status).toBe(200);
  stop.abort();
  expect((await Promise.all(waiting)).filter((answer) => answer === undefined)).toHaveLength(3);
  expect(await firstAnswer(made.run_id)).toBe(200);
});

/** Asks until a place is free: those who left may not have gone yet. */
async function firstAnswer(runId: string) {
  for (;;) {
    const { status } = await admin.ask('GET', `/runs/${runId}`);
    if (status !== 429) return status;
  }
}

it('REST-13 answers those who wait when the gateway goes away, and refuses new requests', async () => {
  const leaving = await fixture.gateway({ tuning: { drainSpreadMs: 2000, maxPending: 1 } });
  const client = new RestClient(leaving);
  const made = await command();
  const waiting = [1, 2].map(() => client.ask('GET', `/runs/${made.run_id}?wait=60000`));
  // The one that is refused says that the other one is there.
  expect((await Promise.race(waiting)).status).toBe(429);
  const closing = leaving.app.close();
  const answers = await Promise.all(waiting);
  const answer = answers.find(({ status }) => status === 200);
  expect((answer?.body as RunInfo | undefined)?.status).toBe('dispatched');
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
