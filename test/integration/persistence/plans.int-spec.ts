// What Postgres does for the questions that are asked all the time, in an installation with very many projects.
import pg from 'pg';
import { createDatabase, PgExecutionStore, PgRunStore } from '#persistence';
import { createFixture, createProject, newCommand, type Fixture } from './persistence-fixture.js';

const PROJECTS = 10_000;
const QUEUED_EACH = 10;
/** Rows of runs that may be read for one project: its own, some times over. */
const OF_ONE_PROJECT = 20 * (QUEUED_EACH + 1);

let fixture: Fixture;
let projectId: string;
let queuedId: string;

beforeAll(async () => {
  fixture = await createFixture();
  ({ projectId } = await createProject(fixture));
  await fixture.runs.enqueueCommand(newCommand(fixture, projectId));
  queuedId = (await fixture.runs.enqueueCommand(newCommand(fixture, projectId))).result.run.runId;
  const { client } = fixture.database.db;
  const { hostId } = fixture.lease;
  await client.$executeRaw`INSERT INTO project (id, host_id, name, path, created_by)
    SELECT gen_random_uuid(), ${hostId}::uuid, 'p', '/srv/many/' || n, ${fixture.userId}::uuid FROM generate_series(1, ${PROJECTS}::int) n`;
  await client.$executeRaw`INSERT INTO project_head (project_id, last_position)
    SELECT id, 1000000 FROM project ON CONFLICT DO NOTHING`;
  // What is over came first; then, in each project, one at work and ten that wait.
  const insert = (statuses: string, most: number) =>
    client.$executeRawUnsafe(`INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by, title)
      SELECT gen_random_uuid(), p.id, p.host_id, 'command', ${statuses}, n * 1024, 1, '', p.created_by, 'r' || n
      FROM project p, generate_series(0, ${most}) n WHERE n > 0 OR p.id <> '${projectId}'`);
  await insert(`'succeeded'`, 2 * QUEUED_EACH);
  await insert(`CASE WHEN n = 0 THEN 'running' ELSE 'queued' END`, QUEUED_EACH);
  await client.$executeRawUnsafe('VACUUM ANALYZE');
}, 180_000);
afterAll(async () => {
  await fixture.database.close();
});

interface Counts {
  read: number;
  scans: number;
}

/** Rows of runs that were read, and scans of the whole table. A connection hands in its counts when it ends. */
async function counts(): Promise<Counts> {
  const [row] = await fixture.database.db.client.$queryRaw<{ read: bigint; scans: bigint }[]>`
    SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) AS read, seq_scan AS scans
    FROM pg_stat_user_tables WHERE relname = 'run'`;
  return { read: Number(row?.read ?? 0), scans: Number(row?.scans ?? 0) };
}

interface Stores {
  runs: PgRunStore;
  executions: PgExecutionStore;
}

it.each<[string, (stores: Stores) => Promise<unknown>, number]>([
  ['queueing', ({ runs }) => runs.enqueueCommand(newCommand(fixture, projectId)), OF_ONE_PROJECT],
  ['reading a queue', ({ runs }) => runs.queue(projectId), OF_ONE_PROJECT],
  ['promoting', ({ runs }) => runs.resumeLane(projectId, 'main', fixture.userId), OF_ONE_PROJECT],
  ['a place in the queue', ({ runs }) => runs.findQueued(queuedId), OF_ONE_PROJECT],
  // Each queued run is looked at, whatever is over.
  [
    'looking for free lanes',
    ({ executions }) => executions.promoteFreeLanes(fixture.lease.hostId),
    1.5 * PROJECTS * QUEUED_EACH,
  ],
  [
    'looking for what is overdue',
    ({ executions }) => executions.closeOverdue(fixture.lease.hostId, { parkAfterMs: 1 }),
    10,
  ],
])('QUE-11 %s reads what it is about, by an index', async (_what, work, most) => {
  await fixture.runs.pauseLane(projectId, 'main', fixture.userId);
  const before = await counts();
  const db = createDatabase(fixture.database.url, { poolSize: 1 });
  await work({ runs: new PgRunStore(db), executions: new PgExecutionStore(db) });
  await db.close();
  const after = await counts();
  expect(after.read - before.read).toBeLessThan(most);
  expect(after.scans - before.scans).toBe(0);
});

it('QUE-12 looks at each run of a long queue a few times at most when one more is queued', async () => {
  const LENGTH = 1_000;
  const { projectId: long } = await createProject(fixture);
  const { client } = fixture.database.db;
  await fixture.runs.enqueueCommand(newCommand(fixture, long));
  await client.$executeRaw`INSERT INTO run (id, project_id, host_id, kind, status, position, timeout_ms, correlation_id, created_by, title)
    SELECT gen_random_uuid(), ${long}::uuid, ${fixture.lease.hostId}::uuid, 'command', 'queued', n, 1, '', ${fixture.userId}::uuid, ''
    FROM generate_series(1, ${LENGTH}::int) n`;
  await client.projectHead.update({ where: { projectId: long }, data: { lastPosition: 2 * LENGTH } });
  const before = await counts();
  const db = createDatabase(fixture.database.url, { poolSize: 1 });
  const { result } = await new PgRunStore(db).enqueueCommand(newCommand(fixture, long));
  await db.close();
  expect(result.position).toBe(LENGTH);
  expect((await counts()).read - before.read).toBeLessThan(4 * LENGTH);
});

it('QUE-11 finds the first run of a lane by an index alone', async () => {
  const client = new pg.Client({ connectionString: fixture.database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM run WHERE project_id = '${projectId}' AND status = 'queued' AND lane = 'main' ORDER BY position LIMIT 1`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('run_unfinished_of_project_idx');
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  } finally {
    await client.end();
  }
});
