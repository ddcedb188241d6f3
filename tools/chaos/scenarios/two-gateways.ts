// Two gateways before one project: the same events at both although what they publish overtakes itself, a gateway that dies between its
// commit and its publish, and one that is told to leave.
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { EventViewer } from '../stack/event-viewer.ts';
import type { Instance } from '../stack/instances.ts';
import { Load } from '../stack/load.ts';

/** The regular look at the heads comes every 2 s. */
const SEEN_MS = 5_000;
const LEAVE_MS = 12_000;

const at = (instance: () => Instance) => ({ urls: () => (instance().alive ? [instance().url] : []) });

/** Submits one command through a gateway of whose publishing nothing arrives, and kills it at its acknowledgement. Gives when others saw it. */
async function dieBeforePublishing(
  stack: ChaosStack,
  load: Load,
  first: Instance,
  watcher: EventViewer,
): Promise<number> {
  const [project] = load.projects;
  if (project === undefined) throw new Error('there is no project');
  const patient = project.client;
  project.client = stack.socket(
    `doomed/${first.name}`,
    at(() => first),
  );
  await load.submit(1, { parallelShare: 0, longShare: 0 });
  const from = performance.now();
  await stack.kill(first);
  project.client = patient;
  const runId = project.entries.at(-1)?.runId;
  await watcher.when('the others see it', ({ type, run_id: id }) => type === 'run.queued' && id === runId);
  return performance.now() - from;
}

async function run({ random, size, stack: newStack }: Ground): Promise<Finding[]> {
  const [commands, deaths] = [size(60, 12), size(10, 2)];
  const stack = await newStack({ gateways: 1 });
  const way = await stack.redisWay();
  const latency = random.fork('latency');
  let first = await stack.startGateway(way.env);
  const second = stack.gateways[0] ?? first;
  const load = await Load.open(stack, random, 1);
  const [project] = load.projects;
  if (project === undefined) throw new Error('there is no project');
  const viewers = [
    new EventViewer(
      stack,
      'first',
      project.projectId,
      at(() => first),
    ),
    new EventViewer(
      stack,
      'second',
      project.projectId,
      at(() => second),
    ),
  ] as const;
  await Promise.all(viewers.map(({ socket }) => socket.ready));

  way.proxy.slow(() => latency.int(0, 400));
  const clients = [
    stack.socket(
      'submit/first',
      at(() => first),
    ),
    stack.socket(
      'submit/second',
      at(() => second),
    ),
  ];
  for (let index = 0; index < commands; index += 1) {
    project.client = clients[index % 2] ?? project.client;
    await load.submit(1, { workMs: 100, longShare: 0, parallelShare: 0.3 });
  }
  await load.settled();
  way.proxy.slow(() => 0);

  const seen: number[] = [];
  project.client = stack.socket('patient');
  for (let death = 0; death < deaths; death += 1) {
    way.proxy.freeze();
    seen.push(await dieBeforePublishing(stack, load, first, viewers[1]));
    await way.proxy.heal();
    first = await stack.startGateway(way.env);
  }
  await load.settled();

  const submitting = load.submit(10, { paceMs: 100, longShare: 0 });
  await delay(300);
  const from = performance.now();
  const code = await stack.kill(first, 'SIGTERM');
  const leftMs = performance.now() - from;
  first = second; // its viewer goes where the others are
  await submitting;
  await load.settled();
  const [head = 0] = await load.heads();
  await Promise.all(viewers.map((viewer) => viewer.reaches(head)));
  const ids = viewers.map(({ events }) => events.map(({ event_id: id }) => id).join());
  return [
    noted('commands, deaths, events', `${load.acknowledged}, ${deaths}, ${head}`),
    equal('both gateways show the same', 'yes', ids[0] === ids[1] ? 'yes' : 'no'),
    never(
      'events twice, out of order or missing',
      viewers.flatMap(({ faults }) => faults),
    ),
    atMost('what was committed and not published is seen, longest', SEEN_MS, Math.max(...seen), 'ms'),
    equal('exit code of a gateway that was told to leave', 0, String(code) === '0' ? 0 : String(code)),
    atMost('it leaves within', LEAVE_MS, leftMs, 'ms'),
    equal('it says so to its clients', 'yes', viewers[0].notices.includes('service.draining') ? 'yes' : 'no'),
    never('refusals that do not say to try again', load.unclean),
    ...(await load.findings()),
  ];
}

export const twoGateways: Scenario = {
  name: 'two-gateways',
  summary: 'Publishes overtake each other, a gateway dies before it publishes, another is told to leave.',
  run,
};
