// `make chaos`: breaks a private stack in every way that Gantry promises to survive, and compares what it measured with what is promised.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SCENARIOS } from './catalog.ts';
import { conclusion, table } from './report.ts';
import { isKept, type Outcome, runScenario } from './run-scenario.ts';
import type { ChaosStack } from './stack/chaos-stack.ts';
import { type PostgresProcess, startPostgresProcess } from './stack/postgres-process.ts';

const USAGE = 2;
const NAMES = SCENARIOS.map(({ name }) => name);
const HELP = `make chaos [SEED=<n>] [SCALE=<x>] [ONLY=<scenario,scenario>]

Every random decision comes from the seed; it is printed, and a new one is drawn when none is given. SCALE multiplies the numbers of
faults and runs: 1 is some minutes for all, 10 is more than an hour. The exit code is 1 when a promise is broken; the evidence is kept.

${SCENARIOS.map(({ name, summary }) => `  ${name.padEnd(28)} ${summary}`).join('\n')}`;

interface Request {
  seed: number;
  scale: number;
  only: readonly string[];
}

/** What was asked for, or a sentence about what is wrong with it. */
function request(args: string[]): Request | string {
  const { values } = parseArgs({
    args,
    options: { seed: { type: 'string' }, scale: { type: 'string' }, only: { type: 'string' } },
  });
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const scale = Number(values.scale ?? '1');
  const only = values.only === undefined ? NAMES : values.only.split(',').map((name) => name.trim());
  const unknown = only.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) return `Unknown scenario: ${unknown.join(', ')}. There are: ${NAMES.join(', ')}.`;
  if (!Number.isSafeInteger(seed) || seed < 0) return 'SEED must be a number from 0 on.';
  if (!(scale > 0)) return 'SCALE must be a number above 0.';
  return { seed, scale, only };
}

async function chaos({ seed, scale, only }: Request): Promise<void> {
  console.log(`seed ${seed}, scale ${scale}`);
  const postgres = await startPostgresProcess();
  const outcomes: Outcome[] = [];
  const standing = new Set<ChaosStack>();
  takeDownAtSignals(standing, postgres);
  try {
    for (const scenario of SCENARIOS.filter(({ name }) => only.includes(name))) {
      console.log(`${scenario.name}: ${scenario.summary}`);
      const say = (text: string): void => console.log(`  ${text}`);
      const outcome = await runScenario(scenario, { seed, scale, postgres, say, standing });
      outcomes.push(outcome);
      console.log(`  ${isKept(outcome) ? 'kept' : 'BROKEN'} after ${outcome.seconds.toFixed(0)} s`);
      if (outcome.error !== undefined) console.error(outcome.error);
    }
  } finally {
    await postgres.close();
  }
  console.log(`\n${table(outcomes)}\n\n${conclusion(outcomes, seed)}`);
  process.exitCode = outcomes.every(isKept) ? 0 : 1;
}

/** Leaves nothing running when a person has seen enough. */
function takeDownAtSignals(standing: ReadonlySet<ChaosStack>, postgres: PostgresProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.error(`Stopped by ${signal}; taking the stack down.`);
      void Promise.all([...standing].map((stack) => stack.close()))
        .then(() => postgres.close())
        .finally(() => process.exit(130));
    });
  }
}

if (process.argv.includes('--help')) console.log(HELP);
else {
  const asked = request(process.argv.slice(2));
  if (typeof asked === 'string') {
    console.error(asked);
    process.exitCode = USAGE;
  } else await chaos(asked);
}
