// The scenarios in the order in which they are run.
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

export const SCENARIOS: readonly Scenario[] = [
  workerMassacre,
  zombieFence,
  redisAmnesia,
  postgresRestart,
  streamResume,
  slowAndLyingViewer,
  questionOutlivesEverything,
  executeThenTimeout,
  torture,
  twoGateways,
];
