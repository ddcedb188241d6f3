// The order of stages: cheap ones side by side first, then the others one after another; none is left out after a failure.
import { hasFailed, type Outcome, type Stage } from './stage.ts';

/** As many cheap stages at once as the smallest machine has cores. */
const SIDE_BY_SIDE = 2;

/**
 * Runs every stage and gives their outcomes in the order of `stages`. A stage whose need was selected and failed is not run,
 * and counts as one failure.
 */
export async function runAll(stages: readonly Stage[], run: (stage: Stage) => Promise<Outcome>): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const runOne = async (stage: Stage): Promise<void> => {
    const missing = (stage.needs ?? []).filter((need) => {
      const outcome = outcomes.get(need);
      return outcome !== undefined && hasFailed(outcome);
    });
    outcomes.set(stage.name, missing.length > 0 ? notRun(stage, missing) : await run(stage));
  };
  const cheap = stages.filter((stage) => stage.cheap === true);
  const lane = async (): Promise<void> => {
    for (let stage = cheap.shift(); stage !== undefined; stage = cheap.shift()) await runOne(stage);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  for (const stage of stages) if (stage.cheap !== true) await runOne(stage);
  return stages.flatMap(({ name }) => outcomes.get(name) ?? []);
}

const notRun = ({ name }: Stage, missing: readonly string[]): Outcome => ({
  name,
  seconds: 0,
  passed: 0,
  failed: 1,
  reasons: [`Not run: it needs ${missing.join(' and ')}.`],
});
