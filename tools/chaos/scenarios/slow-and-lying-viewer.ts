// Viewers that stop reading a flood and claim to have read it all the same: what they cost the gateway, what the others notice, and what
// they get once they read again.
import { readFileSync } from 'node:fs';
import { atMost, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { Load } from '../stack/load.ts';
import { OutputViewer } from '../stack/output-viewer.ts';
import { storedOutput } from '../stack/stored-output.ts';

const MIB = 1024 * 1024;
const COST_MIB = 32;
/** How much longer the same output may take for the healthy, beside the others. */
const RATIO = 2;
const HEALTHY = 3;
const SAMPLE_MS = 50;
/** Of a longer output the middle is not kept. */
const MOST_MIB = 48;
/** The largest window that there is. */
const WINDOW_BYTES = 4 * MIB;

const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

interface Showing {
  ms: number;
  /** Peak of the gateway's resident memory. */
  peakMib: number;
  hashes: string[];
  runId: string;
}

/** Shows one flood to healthy viewers; `before` may bring others in, and gives what to do now and then while it flows. */
async function show(
  stack: ChaosStack,
  load: Load,
  bytes: number,
  before: (runId: string) => Promise<(at: number) => void>,
): Promise<Showing> {
  const [project] = load.projects;
  const pid = stack.gateways[0]?.process.pid;
  if (project === undefined || pid === undefined) throw new Error('there is no project or no gateway');
  const go = 'until [ -e go ]; do sleep 0.02; done; rm go';
  const runId = await load.command(project, `${go}; head -c ${bytes} /dev/urandom`);
  const viewers = Array.from({ length: HEALTHY }, (_, index) => new OutputViewer(stack, `${runId}/${index}`, runId));
  await Promise.all(viewers.map(({ socket }) => socket.ready));
  const meanwhile = await before(runId);
  let peakMib = 0;
  let ticks = 0;
  const timer = setInterval(() => {
    peakMib = Math.max(peakMib, residentMib(pid));
    meanwhile((ticks += 1));
  }, SAMPLE_MS);
  const from = performance.now();
  await load.look(project, 'touch go');
  const hashes = await Promise.all(viewers.map(({ ended }) => ended));
  const ms = performance.now() - from;
  clearInterval(timer);
  return { ms, peakMib, hashes, runId };
}

async function run({ random, size, stack: newStack }: Ground): Promise<Finding[]> {
  const [bytes, bad] = [Math.min(MOST_MIB, size(48, 16)) * MIB, Math.min(20, size(10, 3))];
  const stack = await newStack({ gateways: 1, workers: 1 });
  const load = await Load.open(stack, random, 1);
  const nobody = (): void => undefined;
  await show(stack, load, 8 * MIB, async () => nobody); // what is done for the first time costs more
  const alone = await show(stack, load, bytes, async () => nobody);
  const slow: OutputViewer[] = [];
  const beside = await show(stack, load, bytes, async (runId) => {
    for (let index = 0; index < bad; index += 1) {
      slow.push(new OutputViewer(stack, `slow/${index}`, runId, { windowBytes: WINDOW_BYTES }));
    }
    await Promise.all(slow.map(({ socket }) => socket.ready));
    for (const viewer of slow) viewer.stopReading();
    // Whatever was sent by now is claimed to be read; what was not is refused, and nobody reads the refusal.
    return (tick) => {
      for (const viewer of slow) viewer.acknowledge((tick * MIB) % bytes);
    };
  });
  const costMib = Math.max(0, beside.peakMib - alone.peakMib) / bad;
  for (const viewer of slow) viewer.readAgain();
  const late = await Promise.all(slow.map(({ ended }) => ended));
  const { hash: stored } = await storedOutput(stack, beside.runId);
  return [
    noted('bytes, healthy viewers, slow and lying ones', `${bytes}, ${HEALTHY}, ${bad}`),
    atMost('memory of the gateway for each of them', COST_MIB, costMib, 'MiB'),
    noted('peak memory without and with them', `${alone.peakMib.toFixed(0)}, ${beside.peakMib.toFixed(0)} MiB`),
    atMost('time of the healthy, with them to without', RATIO, beside.ms / alone.ms, 'x'),
    never(
      'healthy viewers that read something else',
      beside.hashes.filter((hash) => hash !== stored),
    ),
    never(
      'slow viewers that read something else in the end',
      late.filter((hash) => hash !== stored),
    ),
    never(
      'bytes that came twice, out of order or not',
      slow.flatMap(({ faults }) => faults),
    ),
  ];
}

export const slowAndLyingViewer: Scenario = {
  name: 'slow-and-lying-viewer',
  summary: 'Viewers stop reading a flood and claim to have read it.',
  run,
};
