// What a query reads, counted by Postgres itself, in a database with a long past.
import { createDatabase, PgExecutionStore, PgHostStore, PgProjectStore, PgRunStore } from '#persistence';
import { createFixture, createProject, type Fixture } from './persistence-fixture.js';

const PAST_RUNS = 20_000;
const PAST_SESSIONS = 5_000;
/** Far below the past, far above what is asked for. */
const FEW = 500;

let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
  const { projectId } = await createProject(fixture);
  const { client } = fixture.database.db;
  await client.$executeRaw`INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by)
    SELECT gen_random_uuid(), ${projectId}::uuid, ${fixture.lease.hostId}::uuid, 'command', 'succeeded', n, 1, '', ${fixture.userId}::uuid
    FROM generate_series(1, ${PAST_RUNS}::int) n`;
  await client.$executeRaw`INSERT INTO session (id, project_id, created_by)
    SELECT gen_random_uuid(), ${projectId}::uuid, ${fixture.userId}::uuid FROM generate_series(1, ${PAST_SESSIONS}::int)`;
  await client.$executeRaw`INSERT INTO process (id, project_id, sandbox_id, kind, state, fingerprint)
    SELECT gen_random_uuid(), ${projectId}::uuid, gen_random_uuid(), 'agent', 'exited', '' FROM generate_series(1, ${PAST_RUNS}::int)`;
  await client.$executeRawUnsafe('ANALYZE');
});
afterAll(async () => {
  await fixture.database.close();
});

/** Rows of a table read by scans of it and of its indexes. A session hands in its counts when it ends. */
async function rowsRead(table: string): Promise<number> {
  const [row] = await fixture.database.db.client.$queryRaw<{ rows: bigint }[]>`
    SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables WHERE relname = ${table}`;
  return Number(row?.rows ?? 0);
}

type Stores = { hosts: PgHostStore; executions: PgExecutionStore; runs: PgRunStore; projects: PgProjectStore };

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
])('DATA-25 reading %s does not read the past (%s)', async (_what, table, read) => {
  const before = await rowsRead(table);
  const db = createDatabase(fixture.database.url, { poolSize: 1 });
  await read({
    hosts: new PgHostStore(db),
    executions: new PgExecutionStore(db),
    runs: new PgRunStore(db),
    projects: new PgProjectStore(db),
  });
  await db.close();
  expect((await rowsRead(table)) - before).toBeLessThan(FEW);
});
