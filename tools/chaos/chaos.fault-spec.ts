// The short form of each scenario of `make chaos`: the same code on a small scale, from one seed, so that a failure can be repeated.
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { executeThenTimeout } from './scenarios/execute-then-timeout.ts';
import { postgresRestart } from './scenarios/postgres-restart.ts';
import { questionOutlivesEverything } from './scenarios/question-outlives-everything.ts';
import { redisAmnesia } from './scenarios/redis-amnesia.ts';
import { slowAndLyingViewer } from './scenarios/slow-and-lying-viewer.ts';
import { streamResume } from './scenarios/stream-resume.ts';
import { torture } from './scenarios/torture.ts';
import { twoGateways } from './scenarios/two-gateways.ts';
import { workerMassacre } from './scenarios/worker-massacre.ts';
import { zombieFence } from './scenarios/zombie-fence.ts';
import { type PostgresProcess, startPostgresProcess } from './stack/postgres-process.ts';

const SEED = 3;
/** Every scenario at the least that it can do. */
const SCALE = 0.01;

let postgres: PostgresProcess;
beforeAll(async () => {
  postgres = await startPostgresProcess();
}, 120_000);
afterAll(() => postgres.close(), 60_000);

async function keepsItsPromises(scenario: Scenario): Promise<void> {
  const { findings, error } = await runScenario(scenario, { seed: SEED, scale: SCALE, postgres, say: () => undefined });
  if (error !== undefined) throw error as Error;
  expect(findings.filter(({ kept }) => !kept)).toEqual([]);
}

it('CHS-10 worker-massacre', () => keepsItsPromises(workerMassacre));
it('CHS-11 zombie-fence', () => keepsItsPromises(zombieFence));
it('CHS-12 redis-amnesia', () => keepsItsPromises(redisAmnesia));
it('CHS-13 postgres-restart', () => keepsItsPromises(postgresRestart));
it('CHS-14 stream-resume', () => keepsItsPromises(streamResume));
it('CHS-15 question-outlives-everything', () => keepsItsPromises(questionOutlivesEverything));
it('CHS-16 torture', () => keepsItsPromises(torture));
it('CHS-17 slow-and-lying-viewer', () => keepsItsPromises(slowAndLyingViewer));
it('CHS-18 execute-then-timeout', () => keepsItsPromises(executeThenTimeout));
it('CHS-19 two-gateways', () => keepsItsPromises(twoGateways));
