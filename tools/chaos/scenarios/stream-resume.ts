// Viewers of one long output are cut off at random - by their own network, by the death of a gateway, by the death of the worker - and
// read on by offset: each must have read exactly what is stored.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { Load } from '../stack/load.ts';
import { OutputViewer } from '../stack/output-viewer.ts';
import { storedOutput } from '../stack/stored-output.ts';

const LINES_IN_A_BLOCK = 200;
const WRITTEN = 'written';
/** One cut for each of these, again and again, in an order of the seed. */
const CUTS = ['client', 'client', 'gateway', 'client', 'client', 'worker'] as const;
const BETWEEN_MS = 600;

/** A shell program that writes numbered lines for about `ms`, to its output and to a file. */
function writer(lines: number, ms: number): string {
  const blocks = Math.ceil(lines / LINES_IN_A_BLOCK);
  const pause = (ms / blocks / 1000).toFixed(3);
  const block = `seq -f "line %.0f of the output, with some more words" $i $((i + ${LINES_IN_A_BLOCK - 1})) | tee -a ${WRITTEN}`;
  return `i=1; while [ $i -le ${lines} ]; do ${block}; i=$((i + ${LINES_IN_A_BLOCK})); sleep ${pause}; done`;
}

async function cut(stack: ChaosStack, viewers: readonly OutputViewer[], kind: string, random: Seeded): Promise<void> {
  if (kind === 'client') return random.pick(viewers).socket.cut();
  if (kind === 'gateway') {
    const gateway = random.pick(stack.gateways.filter(({ alive }) => alive));
    await stack.kill(gateway);
    await stack.startGateway();
    return;
  }
  const { worker, epoch } = await stack.holder();
  await stack.kill(worker);
  const replaced = stack.startWorker();
  await stack.holder(epoch);
  await replaced;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer);
  return hash.digest('hex');
}

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const [cuts, lines, count] = [size(50, CUTS.length), size(100_000, 4_000), Math.min(20, size(20, 6))];
  const stack = await newStack({ gateways: 2, workerEnv: { GANTRY_LEASE_MS: '1500' } });
  const load = await Load.open(stack, random, 1);
  const [project] = load.projects;
  if (project === undefined) throw new Error('there is no project');
  const runId = await load.command(project, writer(lines, cuts * BETWEEN_MS + 3_000));
  const viewers = Array.from({ length: count }, (_, index) => new OutputViewer(stack, String(index), runId));
  await Promise.all(viewers.map(({ socket }) => socket.ready));
  const moments = random.fork('moments');
  for (let done = 0; done < cuts; done += 1) {
    await delay(moments.int(0, BETWEEN_MS));
    await cut(stack, viewers, CUTS[done % CUTS.length] ?? 'client', moments);
    if (done % 10 === 9) say(`${done + 1} of ${cuts} cuts`);
  }
  await load.settled(600_000);
  const hashes = await Promise.all(viewers.map(({ ended }) => ended));
  const stored = await storedOutput(stack, runId);
  const file = join(project.folder, WRITTEN);
  const connections = viewers.reduce((sum, { socket }) => sum + socket.connections, 0);
  return [
    noted('cuts, lines, bytes, viewers, connections', `${cuts}, ${lines}, ${stored.bytes}, ${count}, ${connections}`),
    equal('hash of what is stored is that of what was written', short(await hashOf(file)), short(stored.hash)),
    never('viewers that read something else', hashes.filter((hash) => hash !== stored.hash).map(short)),
    never(
      'bytes that came twice, out of order or not',
      viewers.flatMap(({ faults }) => faults),
    ),
  ];
}

const short = (hash: string): string => hash.slice(0, 16);

export const streamResume: Scenario = {
  name: 'stream-resume',
  summary: 'Viewers of a long output are cut off by network, gateways and workers, and read on.',
  run,
};
