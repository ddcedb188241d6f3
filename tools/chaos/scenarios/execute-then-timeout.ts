// Single requests to Postgres, Redis and Docker are rejected, hang, or are carried out without an answer. Clients ask again with the same
// key, workers look again: each command must have been run exactly once.
import { equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import { Load } from '../stack/load.ts';

/** Each of the three mishaps, on each of the three ways. */
const RATE = 0.01;
const HANG_MS = 2_000;
const SETTLE_MS = 600_000;

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const commands = size(200, 16);
  const stack = await newStack({ gateways: 2 });
  const load = await Load.open(stack, random, 4);
  const ways = Object.values(stack.ways);
  const [clients, runs] = [load.projects.map(({ client }) => client), load.projects.length];
  for (const way of ways) way.befall({ reject: RATE, hang: RATE, hangMs: HANG_MS, runThenReject: RATE });
  await load.submit(commands, { longShare: 0 });
  say(`${commands} commands in ${runs} projects are acknowledged`);
  await load.settled(SETTLE_MS);
  for (const way of ways) way.befall();
  const happened = (kind: 'reject' | 'hang' | 'runThenReject'): number =>
    ways.reduce((sum, { counts }) => sum + counts[kind], 0);
  const repeated = clients.reduce((sum, { unanswered }) => sum + unanswered, load.refused);
  return [
    noted('commands', String(commands)),
    noted(
      'requests rejected, hung, carried out without an answer',
      `${happened('reject')}, ${happened('hang')}, ${happened('runThenReject')}`,
    ),
    noted('requests of clients that were sent again', String(repeated)),
    equal('some were carried out without an answer', 'yes', happened('runThenReject') > 0 ? 'yes' : 'no'),
    ...(await load.findings()),
    never('refusals that do not say to try again', load.unclean),
  ];
}

export const executeThenTimeout: Scenario = {
  name: 'execute-then-timeout',
  summary: 'Single requests to Postgres, Redis and Docker fail, hang, or are carried out without an answer.',
  run,
};
