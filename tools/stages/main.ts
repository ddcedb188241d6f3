// `make test`: every stage, also after one failed, so that one run shows all there is to repair.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RESULTS_FOLDER, STAGES } from './catalog.ts';
import { killTree } from './process-tree.ts';
import { outcomeLine, stageLine, summary } from './report.ts';
import { runStage } from './run-stage.ts';
import { runAll } from './schedule.ts';
import { hasFailed, type Stage } from './stage.ts';

const NAMES = STAGES.map(({ name }) => name);
const HELP = `make test, or: npm run stages -- [--only stage,stage]

Stages, with their budgets in seconds: ${STAGES.map(({ name, budgetS }) => `${name} (${budgetS})`).join(', ')}.
A stage over its budget fails; at three times its budget it is killed. Whole outputs are in ${RESULTS_FOLDER}/<stage>.log.
The last line is \`N passed, N failed\`: tests of the Jest stages, and one for each other stage.`;

/** The stages to run, or a sentence about what is wrong with the request. */
function select(only: string | undefined): readonly Stage[] | string {
  if (only === undefined) return STAGES;
  const wanted = only.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) return `Unknown stage: ${unknown.join(', ')}. There are: ${NAMES.join(', ')}.`;
  return STAGES.filter(({ name }) => wanted.includes(name));
}

function parse(): { only?: string | undefined; help?: boolean | undefined } | string {
  try {
    return parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    return error instanceof Error ? error.message : 'The arguments cannot be read.';
  }
}

const running = new Set<number>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const pid of running) killTree(pid);
    console.error(`Stopped by ${signal}.`);
    process.exit(130);
  });
}

async function test(stages: readonly Stage[]): Promise<void> {
  const startedAt = performance.now();
  const surroundings = {
    folder: join(import.meta.dirname, '..', '..'),
    print: (stage: string, line: string) => console.log(stageLine(stage, line)),
    running,
  };
  const outcomes = await runAll(stages, async (stage) => {
    const outcome = await runStage(stage, surroundings);
    console.log(outcomeLine(outcome, stage.budgetS));
    return outcome;
  });
  console.log(summary(stages, outcomes, (performance.now() - startedAt) / 1000));
  process.exitCode = outcomes.some(hasFailed) ? 1 : 0;
}

const options = parse();
const stages = typeof options === 'string' ? options : select(options.only);
if (typeof options !== 'string' && options.help === true) console.log(HELP);
else if (typeof stages === 'string') {
  console.error(stages);
  process.exitCode = 2;
} else await test(stages);
