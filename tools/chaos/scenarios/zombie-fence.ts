// The worker that holds the host is frozen for three times its lease and woken while another one is at work: it must change nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '#testing';
import { atMost, equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { hasLetGo } from '../stack/instances.ts';
import { Load } from '../stack/load.ts';

const LEASE_MS = 1_500;
const FREEZE_MS = 3 * LEASE_MS;
const LET_GO_MS = 5_000;
/** Tables in which a worker leaves what it did. */
const WATCHED = ['run', 'process', 'event', 'output_chunk', 'project_head', 'session', 'sandbox', 'intent', 'host'];

/** From now on each changed row is noted with the name of the connection that changed it, by Postgres itself. */
async function audit({ database }: ChaosStack): Promise<void> {
  const execute = (statement: string): Promise<number> => database.db.client.$executeRawUnsafe(statement);
  await execute('CREATE TABLE chaos_audit (app text, changed text, at timestamptz DEFAULT clock_timestamp())');
  await execute(`CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_audit (app, changed) VALUES (current_setting('application_name'), TG_OP || ' ' || TG_TABLE_NAME);
      RETURN NULL;
    END $$`);
  for (const table of WATCHED) {
    await execute(`CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE OR DELETE ON "${table}"
      FOR EACH ROW EXECUTE FUNCTION chaos_note()`);
  }
}

/** What a process changed since then. */
async function changesBy({ database }: ChaosStack, app: string, since: Date): Promise<string[]> {
  const rows = await database.db.client.$queryRawUnsafe<{ changed: string }[]>(
    'SELECT changed FROM chaos_audit WHERE app = $1 AND at >= $2',
    app,
    since,
  );
  return rows.map(({ changed }) => `${app}: ${changed}`);
}

/** The processes that the audit saw at work, so that it is known to see. */
async function seenBy({ database }: ChaosStack): Promise<string[]> {
  const rows = await database.db.client.$queryRawUnsafe<{ app: string }[]>('SELECT DISTINCT app FROM chaos_audit');
  return rows.map(({ app }) => app);
}

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const rounds = size(10, 1);
  const stack = await newStack({ workerEnv: { GANTRY_LEASE_MS: String(LEASE_MS) } });
  await audit(stack);
  const load = await Load.open(stack, random, 3);
  const moments = random.fork('moments');
  const [changed, letGo]: [string[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    const submitted = load.submit(24, { workMs: 600 });
    const { worker, epoch } = await stack.holder();
    await delay(moments.int(0, 800));
    worker.process.signal('SIGSTOP');
    const frozenAt = performance.now();
    await stack.holder(epoch);
    await delay(Math.max(0, FREEZE_MS - (performance.now() - frozenAt)));
    const wokenAt = new Date();
    worker.process.signal('SIGCONT');
    const from = performance.now();
    await until('the zombie lets go', () => hasLetGo(worker, epoch), 60_000);
    letGo.push(performance.now() - from);
    await submitted;
    await load.settled();
    changed.push(...(await changesBy(stack, worker.name, wokenAt)));
    if (round % 10 === 0) say(`${round} of ${rounds} freezes`);
  }
  const seen = await seenBy(stack);
  const everybody = [...stack.workers, ...stack.gateways].map(({ name }) => name);
  return [
    noted('freezes, commands', `${rounds}, ${load.acknowledged}`),
    equal(
      'processes that the audit saw at work',
      everybody.join(', '),
      everybody.filter((app) => seen.includes(app)).join(', '),
    ),
    never('rows that a zombie changed after it woke', changed),
    ...(await load.findings()),
    atMost('a woken zombie lets go, longest', LET_GO_MS, Math.max(...letGo), 'ms'),
  ];
}

export const zombieFence: Scenario = {
  name: 'zombie-fence',
  summary: 'The holder is frozen for three times its lease, then woken while another one works.',
  run,
};
