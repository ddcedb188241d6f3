// Postgres shuts down or crashes and comes back while work is submitted: requests are refused cleanly, and what was acknowledged is done.
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import { EventViewer } from '../stack/event-viewer.ts';
import { Load } from '../stack/load.ts';

const RESUME_MS = 30_000;

async function run({ random, size, stack: newStack, postgres, say }: Ground): Promise<Finding[]> {
  const rounds = size(6, 2);
  const stack = await newStack({ gateways: 2 });
  const load = await Load.open(stack, random, 4);
  const viewers = load.projects.map(({ projectId }, index) => new EventViewer(stack, String(index), projectId));
  const moments = random.fork('moments');
  const resumes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const submitted = load.submit(16, { workMs: 500, paceMs: 100 });
    await delay(moments.int(0, 1_000));
    await postgres.stop(round % 2 === 0 ? 'crash' : 'fast');
    await delay(moments.int(200, 5_000));
    await postgres.start();
    resumes.push(await load.goesOn());
    await submitted;
    say(`${round + 1} of ${rounds} restarts`);
  }
  const from = performance.now();
  await load.settled();
  const settledMs = performance.now() - from;
  const heads = await load.heads();
  await Promise.all(viewers.map((viewer, index) => viewer.reaches(heads[index] ?? 0)));
  return [
    noted('restarts, commands, refusals that were tried again', `${rounds}, ${load.acknowledged}, ${load.refused}`),
    ...(await load.findings()),
    never('refusals that do not say to try again', load.unclean),
    equal('requests without an answer', 0, load.unanswered),
    never(
      'faults that viewers saw in their events',
      viewers.flatMap(({ faults }) => faults),
    ),
    atMost('work goes on after a restart, longest', RESUME_MS, Math.max(...resumes), 'ms'),
    noted('everything that was still queued is done after', `${(settledMs / 1000).toFixed(1)} s`),
  ];
}

export const postgresRestart: Scenario = {
  name: 'postgres-restart',
  summary: 'Postgres shuts down or crashes while work is submitted, and comes back.',
  run,
};
