// npm run bench:history - what a page of history and a join's reading cost in a project of a million events, against a project of a
// thousand in the same run. Prints ratios; asserts nothing. Needs the test environment and a build.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { PgEventStore } from '#persistence';
import { createTestDatabase } from '#testing';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    reads: { type: 'string', default: '50' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log('usage: npm run bench:history -- [--events 1000000] [--reads 50]');
  process.exit(0);
}
const EVENTS = Number(values.events);
const READS = Number(values.reads);
const BASELINE = 1_000;
const PAGE = { limit: 200, maxBytes: 1024 * 1024 };

const database = await createTestDatabase();
const { client } = database.db;
const events = new PgEventStore(database.db);
const hostId = randomUUID();
await client.host.create({ data: { id: hostId, engineId: 'bench' } });

async function projectOf(count: number): Promise<string> {
  const id = randomUUID();
  const columns = { id, hostId, name: 'bench', path: `/bench/${id}`, createdBy: randomUUID() };
  await client.project.create({ data: { ...columns, head: { create: { headSeq: count, eventCount: count } } } });
  await client.$executeRaw`INSERT INTO event (project_id, seq, id, type, payload, payload_bytes, created_at)
    SELECT ${id}::uuid, n, gen_random_uuid(), 'message.assistant', jsonb_build_object('text', repeat('word ', 20)), 112,
      timestamptz '2026-01-01Z' + n * interval '1 second' FROM generate_series(1, ${count}::int) n`;
  return id;
}

/** Median time of one kind of read at many places of the history, ms. */
async function timed(count: number, read: (seq: number) => Promise<{ events: unknown[] }>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < READS + 5; index += 1) {
    const seq = Math.floor(((index + 0.5) / (READS + 5)) * (count - PAGE.limit));
    const started = performance.now();
    const { events: page } = await read(seq);
    if (page.length !== PAGE.limit) throw new Error(`a page of ${page.length} events`);
    times.push(performance.now() - started);
  }
  return median(times.slice(5));
}

const reads = (projectId: string): [string, (seq: number) => Promise<{ events: unknown[] }>][] => [
  ['the newest events', () => events.newest(projectId, PAGE)],
  ['a page after any event', (seq) => events.after(projectId, seq, PAGE)],
  ['a page before any event', (seq) => events.newest(projectId, { ...PAGE, beforeSeq: seq + PAGE.limit + 1 })],
  ['a page since any time', (seq) => events.since(projectId, new Date(Date.UTC(2026, 0, 1) + (seq + 1) * 1000), PAGE)],
];

try {
  const few = await projectOf(BASELINE);
  const many = await projectOf(EVENTS);
  await client.$executeRawUnsafe('VACUUM ANALYZE event');
  const baseline = reads(few);
  for (const [index, [what, read]] of reads(many).entries()) {
    const [, readFew] = baseline[index] ?? ['', read];
    const [fewMs, manyMs] = [await timed(BASELINE, readFew), await timed(EVENTS, read)];
    console.log(
      `${what}, ${PAGE.limit} of ${EVENTS}: ${manyMs.toFixed(2)} ms against ${fewMs.toFixed(2)} ms of ${BASELINE}: ${(manyMs / fewMs).toFixed(2)}x`,
    );
  }
} finally {
  await database.close();
}
