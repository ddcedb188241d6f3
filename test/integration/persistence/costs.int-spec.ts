// What a query reads, counted by Postgres itself, in a database with a long past.
import { createDatabase, PgEventStore, PgExecutionStore, PgHostStore, PgProjectStore, PgRunStore } from '#persistence';
import { createFixture, createProject, type Fixture } from './persistence-fixture.js';

const PAST_RUNS = 20_000;
const PAST_SESSIONS = 5_000;
const PAST_EVENTS = 100_000;
/** Far below the past, far above what is asked for. */
const FEW = 500;

let fixture: Fixture;
let projectId: string;
/** Has every hundredth event of the project. */
let sessionId: string;

beforeAll(async () => {
  fixture = await createFixture();
  ({ projectId } = await createProject(fixture));
  const { client } = fixture.database.db;
  await client.$executeRaw`INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by)
    SELECT gen_random_uuid(), ${projectId}::uuid, ${fixture.lease.hostId}::uuid, 'command', 'succeeded', n, 1, '', ${fixture.userId}::uuid
    FROM generate_series(1, ${PAST_RUNS}::int) n`;
  await client.$executeRaw`INSERT INTO session (id, project_id, created_by)
    SELECT gen_random_uuid(), ${projectId}::uuid, ${fixture.userId}::uuid FROM generate_series(1, ${PAST_SESSIONS}::int)`;
  await client.$executeRaw`INSERT INTO process (id, project_id, sandbox_id, kind, state, fingerprint)
    SELECT gen_random_uuid(), ${projectId}::uuid, gen_random_uuid(), 'agent', 'exited', '' FROM generate_series(1, ${PAST_RUNS}::int)`;
  ({ id: sessionId } = await client.session.findFirstOrThrow({ where: { projectId } }));
  await client.$executeRaw`INSERT INTO event (project_id, seq, id, type, session_id, payload, payload_bytes, created_at)
    SELECT ${projectId}::uuid, n, gen_random_uuid(), 'message.system', CASE WHEN n % 100 = 0 THEN ${sessionId}::uuid END,
      '{"text":"past"}', 15, timestamptz '2026-01-01' + n * interval '1 second' FROM generate_series(1, ${PAST_EVENTS}::int) n`;
  await client.$executeRaw`UPDATE project_head SET head_seq = ${PAST_EVENTS}, event_count = ${PAST_EVENTS}
    WHERE project_id = ${projectId}::uuid`;
  await client.$executeRawUnsafe('ANALYZE');
}, 60_000);
afterAll(async () => {
  await fixture.database.close();
});

/** Rows of a table read by scans of it and of its indexes. A session hands in its counts when it ends. */
async function rowsRead(table: string): Promise<number> {
  const [row] = await fixture.database.db.client.$queryRaw<{ rows: bigint }[]>`
    SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables WHERE relname = ${table}`;
  return Number(row?.rows ?? 0);
}

interface Stores {
  hosts: PgHostStore;
  executions: PgExecutionStore;
  runs: PgRunStore;
  projects: PgProjectStore;
  events: PgEventStore;
}
const PAGE = { limit: 100, maxBytes: 1024 * 1024 };
const at = (seq: number): Date => new Date(Date.UTC(2026, 0, 1) + seq * 1000);

it.each<[string, string, (stores: Stores) => Promise<unknown>]>([
  ['the depth of the queues', 'run', ({ hosts }) => hosts.queueDepth()],
  ['idle agents', 'run', ({ executions }) => executions.idleAgents(fixture.lease.hostId)],
  ['idle agents', 'process', ({ executions }) => executions.idleAgents(fixture.lease.hostId)],
  ['active runs', 'run', ({ executions }) => executions.activeRuns(fixture.lease.hostId)],
  ['live processes', 'process', ({ executions }) => executions.liveProcesses(fixture.lease.hostId)],
  ['free lanes', 'run', ({ executions }) => executions.promoteFreeLanes(fixture.lease.hostId)],
  [
    'recent conversations',
    'session',
    ({ runs }) => runs.listSessions({ userId: fixture.userId, isAdmin: true }, { limit: 20 }),
  ],
  ['projects', 'run', ({ projects }) => projects.list({ userId: fixture.userId, isAdmin: true }, { limit: 20 })],
  ['the newest messages', 'event', ({ events }) => events.newest(projectId, PAGE)],
  ['messages in the middle', 'event', ({ events }) => events.after(projectId, PAST_EVENTS / 2, PAGE)],
  ['messages before some', 'event', ({ events }) => events.newest(projectId, { ...PAGE, beforeSeq: 70_000 })],
  ['messages since a time', 'event', ({ events }) => events.since(projectId, at(90_000), PAGE)],
  ['messages of a conversation', 'event', ({ events }) => events.ofSession(projectId, sessionId, 50_000, PAGE)],
])('DATA-25 reading %s does not read the past (%s)', async (_what, table, read) => {
  const before = await rowsRead(table);
  const db = createDatabase(fixture.database.url, { poolSize: 1 });
  await read({
    hosts: new PgHostStore(db),
    executions: new PgExecutionStore(db),
    runs: new PgRunStore(db),
    projects: new PgProjectStore(db),
    events: new PgEventStore(db),
  });
  await db.close();
  expect((await rowsRead(table)) - before).toBeLessThan(FEW);
});
