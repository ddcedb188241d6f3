// A command's output over HTTP: the bytes as they were written, by ranges of offsets.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { newId } from '#kernel';
import type { ProjectInfo, RunInfo } from '#protocol';
import { type CommandWriter, GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { type Json, RestClient } from './rest-client.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let admin: RestClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  admin = new RestClient(gateway);
});
afterAll(() => fixture.close());

/** A command at work, its writer, and how to end it. */
async function running(): Promise<{ runId: string; path: string; writer: CommandWriter; finish: () => Promise<void> }> {
  const { project_id } = await admin.json<ProjectInfo>('POST', '/projects', {
    body: { path: join(fixture.root, newId()) },
  });
  const { run_id } = await admin.json<RunInfo>('POST', `/projects/${project_id}/runs`, {
    body: { kind: 'command', command: 'true' },
  });
  const run = await fixture.host.claim(run_id);
  const writer = await fixture.host.startProcess(run);
  return { runId: run_id, path: `/runs/${run_id}/output`, writer, finish: () => fixture.host.finish(run) };
}

async function bytesOf(path: string, headers: Record<string, string> = {}) {
  const response = await admin.fetch('GET', path, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it('REST-7 gives the bytes of both channels in their order, whole or by range', async () => {
  const { path, writer, finish } = await running();
  const written = randomBytes(700_000);
  for (let at = 0; at < written.length; at += 100_000) {
    await writer.write(written.subarray(at, at + 100_000), at % 200_000 === 0 ? 'stdout' : 'stderr');
  }
  await finish();
  const whole = await bytesOf(path);
  expect([whole.response.status, sha(whole.bytes)]).toEqual([200, sha(written)]);
  expect(whole.response.headers.get('content-length')).toBe('700000');
  expect(whole.response.headers.get('content-disposition')).toMatch(/^attachment/);
  for (const [range, first, last] of [
    ['bytes=0-0', 0, 0],
    ['bytes=99999-100001', 99_999, 100_001],
    ['bytes=500000-', 500_000, 699_999],
    ['bytes=-5', 699_995, 699_999],
    ['bytes=600000-9999999', 600_000, 699_999],
  ] as const) {
    const { response, bytes } = await bytesOf(path, { range });
    expect([range, response.status, response.headers.get('content-range')]).toEqual([
      range,
      206,
      `bytes ${first}-${last}/700000`,
    ]);
    expect(bytes.equals(written.subarray(first, last + 1))).toBe(true);
  }
  for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=5-2', 'nonsense']) {
    expect((await bytesOf(path, { range })).response.status).toBe(200);
  }
});

it('REST-7 gives what there is while the run goes on, and its length when it is over', async () => {
  const { path, writer, finish } = await running();
  const empty = await bytesOf(path);
  expect([empty.response.status, empty.bytes.length, empty.response.headers.get('etag')]).toEqual([200, 0, null]);
  await writer.write('one');
  const part = await bytesOf(path, { range: 'bytes=0-' });
  expect([part.response.status, part.bytes.toString(), part.response.headers.get('content-range')]).toEqual([
    206,
    'one',
    'bytes 0-2/*',
  ]);
  const beyond = await admin.ask('GET', path, { headers: { range: 'bytes=3-' } });
  expect([beyond.status, beyond.headers.get('content-range'), (beyond.body as Json).code]).toEqual([
    416,
    'bytes */3',
    'request.range_not_satisfiable',
  ]);
  await writer.write('two');
  await finish();
  const rest = await bytesOf(path, { range: 'bytes=3-' });
  expect([rest.bytes.toString(), rest.response.headers.get('content-range')]).toEqual(['two', 'bytes 3-5/6']);
  const etag = rest.response.headers.get('etag') ?? '';
  expect((await bytesOf(path, { range: 'bytes=3-', 'if-range': etag })).response.status).toBe(206);
  expect((await bytesOf(path, { range: 'bytes=3-', 'if-range': '"other"' })).response.status).toBe(200);
  const head = await admin.ask('HEAD', path);
  expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
    200,
    '6',
    'bytes',
  ]);
});

it('REST-8 says what a cap left out and what has expired, and never joins what does not belong together unsaid', async () => {
  const { runId, path, writer, finish } = await running();
  for (const text of ['head', 'gone', 'tail']) await writer.write(text);
  await finish();
  await fixture.database.db.run(async (client) => {
    await client.outputChunk.deleteMany({ where: { runId, offset: 4 } });
    await client.run.update({ where: { id: runId }, data: { outputCutFrom: 4, outputCutTo: 8 } });
  });
  const whole = await bytesOf(path);
  expect([whole.bytes.toString(), whole.response.headers.get('gantry-missing-bytes')]).toEqual(['headtail', '4-8']);
  const before = await bytesOf(path, { range: 'bytes=2-9' });
  expect([before.bytes.toString(), before.response.headers.get('content-range')]).toEqual(['ad', 'bytes 2-3/12']);
  const after = await bytesOf(path, { range: 'bytes=8-' });
  expect([after.bytes.toString(), after.response.headers.get('content-range')]).toEqual(['tail', 'bytes 8-11/12']);
  const inside = await admin.ask('GET', path, { headers: { range: 'bytes=5-9' } });
  expect([inside.status, (inside.body as Json).details]).toEqual([
    416,
    { head_offset: 12, missing: { from: 4, to: 8 } },
  ]);
  await fixture.database.db.run((client) =>
    client.run.update({ where: { id: runId }, data: { outputExpiredAt: new Date() } }),
  );
  expect(await admin.refusal('GET', path)).toEqual([410, 'stream.expired']);
});

it('REST-7 has no output of a prompt', async () => {
  const { project_id } = await admin.json<ProjectInfo>('POST', '/projects', {
    body: { path: join(fixture.root, newId()) },
  });
  const { run_id } = await admin.json<RunInfo>('POST', `/projects/${project_id}/runs`, {
    body: { kind: 'prompt', prompt: 'x' },
  });
  expect(await admin.refusal('GET', `/runs/${run_id}/output`)).toEqual([404, 'stream.not_found']);
});
