// Redis forgets everything, dies, is cut off, falls silent or slows down while work is submitted: nothing that was acknowledged may suffer.
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { EventViewer } from '../stack/event-viewer.ts';
import { Load } from '../stack/load.ts';

const RESUME_MS = 30_000;
const FAULTS = ['flush', 'kill', 'cut', 'half-open', 'slow'] as const;
type Fault = (typeof FAULTS)[number];

/** Makes the fault, keeps it for a while, and ends it. */
async function befall(stack: ChaosStack, fault: Fault, random: Seeded): Promise<void> {
  const lasting = (): Promise<void> => delay(random.int(500, 4_000));
  const { redis } = stack.ways;
  switch (fault) {
    case 'flush':
      return stack.redis.wipe();
    case 'kill':
      await stack.redis.kill();
      await lasting();
      return stack.redis.start();
    case 'cut':
      await redis.cut();
      await lasting();
      return redis.heal();
    case 'half-open':
      redis.freeze();
      await lasting();
      return redis.heal();
    case 'slow':
      redis.slow(() => random.int(0, 300));
      await lasting();
      return redis.slow(() => 0);
  }
}

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const rounds = size(20, FAULTS.length);
  const stack = await newStack({ gateways: 2 });
  const load = await Load.open(stack, random, 4);
  const viewers = load.projects.map(({ projectId }, index) => new EventViewer(stack, String(index), projectId));
  const moments = random.fork('moments');
  const resumes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const fault = FAULTS[round % FAULTS.length] ?? 'flush';
    const submitted = load.submit(16, { workMs: 500, longShare: 0, paceMs: 100 });
    await delay(moments.int(0, 700));
    await befall(stack, fault, moments);
    resumes.push(await load.goesOn());
    await submitted;
    if (round % 5 === 4) say(`${round + 1} of ${rounds} faults`);
  }
  const from = performance.now();
  await load.settled();
  const settledMs = performance.now() - from;
  const heads = await load.heads();
  await Promise.all(viewers.map((viewer, index) => viewer.reaches(heads[index] ?? 0)));
  return [
    noted('faults, commands, viewers', `${rounds}, ${load.acknowledged}, ${viewers.length}`),
    ...(await load.findings()),
    never('refusals that do not say to try again', load.unclean),
    never(
      'faults that viewers saw in their events',
      viewers.flatMap(({ faults }) => faults),
    ),
    atMost('work goes on after a fault, longest', RESUME_MS, Math.max(...resumes), 'ms'),
    noted('everything that was still queued is done after', `${(settledMs / 1000).toFixed(1)} s`),
  ];
}

export const redisAmnesia: Scenario = {
  name: 'redis-amnesia',
  summary: 'Redis is wiped, killed, cut off, silent and slow while work is submitted.',
  run,
};
