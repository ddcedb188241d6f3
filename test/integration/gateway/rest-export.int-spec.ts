// The export of a project's history over HTTP: whole, resumable, and at a cost in memory that does not grow with it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newId } from '#kernel';
import type { EventInfo, ProjectInfo, RunInfo } from '#protocol';
import { ADMIN_TOKEN, GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { RestClient } from './rest-client.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let admin: RestClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  admin = new RestClient(gateway);
});
afterAll(() => fixture.close());

async function project(): Promise<string> {
  const body = { path: join(fixture.root, newId()) };
  return (await admin.json<ProjectInfo>('POST', '/projects', { body })).project_id;
}

/** Events as the store would have appended them, many at once. */
async function fill(projectId: string, count: number, textBytes: number): Promise<void> {
  await fixture.database.db.transaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO event (project_id, seq, id, type, payload, created_at)
      SELECT ${projectId}::uuid, head_seq + n, gen_random_uuid(), 'message.system',
        jsonb_build_object('subtype', 'test', 'text', repeat('x', ${textBytes}::int)), now()
      FROM project_head, generate_series(1, ${count}::int) AS n WHERE project_id = ${projectId}::uuid`;
    await tx.$executeRaw`UPDATE project_head SET head_seq = head_seq + ${count}, event_count = event_count + ${count}
      WHERE project_id = ${projectId}::uuid`;
  });
}

type Line = EventInfo | { type: 'export.complete'; through_seq: number; after_seq: number; count: number };

async function linesOf(path: string): Promise<Line[]> {
  const { status, headers, body } = await admin.ask('GET', path);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/jsonl; charset=utf-8']);
  expect(body).toMatch(/\n$/);
  return (body as string)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

it('REST-9 gives every event once, in order and uncut, and a last line that says so', async () => {
  const projectId = await project();
  const { run_id } = await admin.json<RunInfo>('POST', `/projects/${projectId}/runs`, {
    body: { kind: 'prompt', prompt: 'x' },
  });
  await fixture.host.append(await fixture.host.claim(run_id), 3, 'y'.repeat(1_500_000));
  const lines = await linesOf(`/projects/${projectId}/messages.jsonl`);
  const events = lines.slice(0, -1) as EventInfo[];
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect((events.at(-1)?.payload['text'] as string).length).toBe(1_500_001);
  expect(lines.at(-1)).toEqual({
    type: 'export.complete',
    project_id: projectId,
    after_seq: 0,
    through_seq: events.length,
    count: events.length,
  });
  const { messages } = await admin.json<{ messages: EventInfo[] }>('GET', `/projects/${projectId}/messages?limit=1`);
  expect(messages.map(({ seq }) => seq)).toEqual([events.length]);
});

it('REST-9 goes on after a seq, and keeps to one conversation', async () => {
  const projectId = await project();
  const { session_id } = await admin.json<RunInfo>('POST', `/projects/${projectId}/runs`, {
    body: { kind: 'prompt', prompt: 'x' },
  });
  await fill(projectId, 1200, 10);
  const all = await linesOf(`/projects/${projectId}/messages.jsonl`);
  const rest = await linesOf(`/projects/${projectId}/messages.jsonl?after_seq=700`);
  expect(rest.slice(0, -1)).toEqual(all.slice(700, -1));
  expect(rest.at(-1)).toMatchObject({ after_seq: 700, through_seq: all.length - 1, count: all.length - 1 - 700 });
  const head = all.length - 1;
  expect(await linesOf(`/projects/${projectId}/messages.jsonl?after_seq=${head}`)).toMatchObject([
    { type: 'export.complete', through_seq: head, count: 0 },
  ]);
  const own = await linesOf(`/projects/${projectId}/messages.jsonl?session_id=${session_id ?? ''}`);
  const ofSession = all.filter((line) => 'session_id' in line && line.session_id === session_id);
  expect(ofSession.length).toBeGreaterThan(0);
  expect(own.slice(0, -1)).toEqual(ofSession);
  expect(own.at(-1)).toMatchObject({ type: 'export.complete', count: ofSession.length });
});

it('REST-10 costs no more memory for many events than for few', async () => {
  const projectId = await project();
  await fill(projectId, 60_000, 1000);
  const response = await admin.fetch('GET', `/projects/${projectId}/messages.jsonl`);
  const lines = createInterface({ input: Readable.fromWeb(response.body as never), crlfDelay: Infinity });
  let [count, last] = [0, ''];
  const samples: number[] = [];
  for await (const line of lines) {
    count += 1;
    last = line;
    if (count % 10_000 === 0) samples.push(bytesInUse());
  }
  expect([count, JSON.parse(last)]).toEqual([
    60_001,
    expect.objectContaining({ type: 'export.complete', count: 60_000 }),
  ]);
  // The export is 70 MB, which would show.
  expect(Math.max(...samples) - (samples[0] ?? 0)).toBeLessThan(16 * 1024 * 1024);
});

/** What is really held, after a collection. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Asks for an export and reads only the beginning of the answer. */
async function beginReading(projectId: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    `GET /api/v1/projects/${projectId}/messages.jsonl HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}

it('REST-10 stops when its reader is gone', async () => {
  const projectId = await project();
  await fill(projectId, 40_000, 1000);
  const socket = await beginReading(projectId);
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  const line = await lineOf('exportMessages', (each) => each['cut_off'] === true && each['project_id'] === projectId);
  expect(line).toMatchObject({ route: 'exportMessages', status: 200 });
});

it('REST-9 leaves out the last line when the project goes away in the middle', async () => {
  const projectId = await project();
  await fill(projectId, 40_000, 1000);
  const socket = await beginReading(projectId);
  await fixture.database.db.run((client) => client.event.deleteMany({ where: { projectId, seq: { gt: 30_000 } } }));
  let tail = '';
  socket.on('data', (chunk) => {
    tail = `${tail}${chunk.toString()}`.slice(-5000);
  });
  socket.resume();
  await once(socket, 'close');
  expect(tail).not.toContain('export.complete');
  expect(tail).not.toMatch(/\r\n0\r\n\r\n$/);
});

/** Waits for a line of the gateway's log about a request. */
async function lineOf(route: string, chosen: (line: Record<string, unknown>) => boolean) {
  for (;;) {
    const found = gateway.log.find((each) => each['msg'] === 'request' && each['route'] === route && chosen(each));
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
