// Workers die by kill -9 at random moments while a standby is there: the commands' own ledger says what was lost, repeated or disordered.
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Finding, type Ground, noted, percentile, type Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { Load } from '../stack/load.ts';

const RESUME_MS = 5_000;
/** How often the standby dies with the holder. */
const BOTH = 0.1;

interface Resume {
  ms: number;
  /** Whether a standby lived to take over; else a new worker had to be started first. */
  standby: boolean;
}

/** Kills the holder, sometimes with its standbys, and puts new ones in their place. Gives the time until work went on. */
async function massacre(stack: ChaosStack, load: Load, random: Seeded): Promise<Resume> {
  const { worker, epoch } = await stack.holder();
  const standbys = stack.workers.filter((each) => each.alive && each !== worker);
  const killedAt = performance.now();
  const standby = !random.chance(BOTH);
  const victims = !standby ? [worker, ...standbys] : [worker];
  await Promise.all(victims.map((victim) => stack.kill(victim)));
  const replaced = Promise.all(victims.map(() => stack.startWorker()));
  await stack.holder(epoch);
  await load.goesOn();
  const ms = performance.now() - killedAt;
  await replaced;
  return { ms, standby };
}

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const [kills, runs, prompts] = [size(20, 3), size(200, 30), size(10, 2)];
  const stack = await newStack({ agents: true });
  const load = await Load.open(stack, random, size(5, 3));
  const submitted = Promise.all([load.submit(runs), load.submitPrompts(prompts)]);
  const moments = random.fork('moments');
  const resumes: Resume[] = [];
  for (let kill = 1; kill <= kills; kill += 1) {
    await load.progress(Math.floor((runs * kill) / (kills + 1)));
    await delay(moments.int(0, 500));
    resumes.push(await massacre(stack, load, moments));
    if (kill % 10 === 0) say(`${kill} of ${kills} kills, ${(await load.finished()) ?? '?'} of ${runs} runs are over`);
  }
  await submitted;
  await load.settled();
  const taken = resumes.filter(({ standby }) => standby).map(({ ms }) => ms);
  const started = resumes.filter(({ standby }) => !standby).map(({ ms }) => ms);
  return [
    noted('kills, commands, prompts, projects', `${kills}, ${runs}, ${prompts}, ${load.projects.length}`),
    ...(await load.findings()),
    atMost('work goes on after a kill with a standby, P95', RESUME_MS, percentile(taken, 0.95), 'ms'),
    noted('the same, median and longest', `${percentile(taken, 0.5).toFixed(0)}, ${Math.max(...taken).toFixed(0)} ms`),
    noted(
      'without a standby: a worker is started first',
      started.map((ms) => `${ms.toFixed(0)} ms`).join(', ') || 'none',
    ),
  ];
}

export const workerMassacre: Scenario = {
  name: 'worker-massacre',
  summary: 'Workers are killed at random moments while a standby is there.',
  run,
};
