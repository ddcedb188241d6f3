// npm run bench:engine - runs per second through the whole engine with a program that does nothing, against bare BullMQ in the same run;
// and the cost of a run beside 10, 1,000 and 10,000 projects. Prints ratios; asserts nothing. Needs the test environment and a build.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Queue } from 'bullmq';
import { createTestDatabase, testEnv } from '#testing';
import { openEngineLoad } from './engine-load.ts';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1500' },
    projects: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    scales: { type: 'string', default: '10,1000,10000' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log('usage: npm run bench:engine -- [--runs 1500] [--projects 50] [--rounds 3] [--scales 10,1000,10000]');
  process.exit(0);
}
const RUNS = Number(values.runs);
const PROJECTS = Number(values.projects);
const ROUNDS = Number(values.rounds);
const SCALES = values.scales.split(',').map(Number);
const CONCURRENCY = 32;
const SUBMITTERS = 32;

const program = (name: string): string => join(import.meta.dirname, name);
const message = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of the benchmark ended with ${String(code)}`)));
  });
const left = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.disconnect();
  });

/** Jobs per second of BullMQ alone: added by as many submitters, taken by a worker in a process of its own. */
async function bareBull(redisUrl: string): Promise<number> {
  const name = `bench-${randomUUID()}`;
  const child = fork(program('bull-worker.ts'), [name, redisUrl, String(CONCURRENCY)]);
  await message(child);
  const queue = new Queue(name, { connection: { url: redisUrl } });
  await queue.waitUntilReady();
  const allDone = new Promise<void>((resolve) => {
    child.on('message', ({ done }: { done: number }) => {
      if (done === RUNS) resolve();
    });
  });
  const started = performance.now();
  let next = 0;
  const submitter = async (): Promise<void> => {
    while (next < RUNS) {
      next += 1;
      await queue.add('run', { index: next }, { removeOnComplete: true });
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  await allDone;
  const perSecond = RUNS / ((performance.now() - started) / 1000);
  await queue.obliterate({ force: true });
  await queue.close();
  await left(child);
  return perSecond;
}

const { redisUrl, dockerSocket, sandboxImage, toolFiles } = testEnv();
const database = await createTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'gantry-bench-'));
await mkdir(join(dataDir, 'projects'));
const worker = fork(program('engine-worker.ts'), {
  env: {
    ...process.env,
    GANTRY_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    DOCKER_SOCKET: dockerSocket,
    SANDBOX_IMAGE: sandboxImage,
    SANDBOX_NODE_FILE: toolFiles.node,
    SANDBOX_CLAUDE_FILE: toolFiles.claude,
    SANDBOX_SANDBOXD_FILE: toolFiles.sandboxd,
    MAX_CONCURRENT_RUNS: String(CONCURRENCY),
    WORKER_PORT: '0',
  },
});
try {
  await message(worker);
  const load = await openEngineLoad(database, redisUrl, join(dataDir, 'projects'));
  const projects = await load.addProjects(PROJECTS, { folders: true });
  await load.run(projects, PROJECTS * 2); // wakes every project once
  const engine: number[] = [];
  const bare: number[] = [];
  let faults = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await bareBull(redisUrl));
    const result = await load.run(projects, RUNS);
    engine.push(result.perSecond);
    faults = result.faults;
  }
  const perSecond = (rates: number[]): string => `${median(rates).toFixed(0)}/s`;
  console.log(
    `engine, ${RUNS} runs in ${PROJECTS} projects: ${perSecond(engine)} (n=${ROUNDS}) against ${perSecond(bare)} by bare BullMQ add+process:` +
      ` ${(median(engine) / median(bare)).toFixed(2)}x; lost, failed or out of order: ${faults}`,
  );
  const costs: { scale: number; ms: number }[] = [];
  let there = PROJECTS;
  for (const scale of SCALES) {
    if (scale > there) {
      await load.addProjects(scale - there);
      there = scale;
    }
    const { perSecond: rate } = await load.run(projects.slice(0, 10), Math.ceil(RUNS / 2));
    costs.push({ scale, ms: 1000 / rate });
  }
  const first = costs[0]?.ms ?? Number.NaN;
  for (const { scale, ms } of costs) {
    console.log(
      `cost of a run in 10 lanes beside ${scale} projects: ${ms.toFixed(2)} ms: ${(ms / first).toFixed(2)}x of the first`,
    );
  }
  await load.close();
} finally {
  await left(worker);
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
