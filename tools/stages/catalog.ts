// The stages of `make test` in their order, each with its budget: the one table to change when a stage grows.
import { join } from 'node:path';
import type { Stage } from './stage.ts';

/** About three times what a quiet machine with two cores needs: what creeps or hangs is caught, a busy machine is not. */
const BUDGET_S = {
  format: 60,
  lint: 300,
  types: 180,
  boundaries: 60,
  build: 90,
  environment: 600,
  unit: 180,
  contract: 180,
  integration: 900, // the first run on a machine builds the service image
  e2e: 720,
  faults: 720,
} as const;

export const RESULTS_FOLDER = 'test-results';

/** Jest's own summary: ours counts over all stages. */
const JEST_SUMMARY =
  /^(Tests?:|Test Suites:|Snapshots:|Time:|Ran all|Running (one|\d+) projects?|Test results written)|^\s*$/;
const JEST_SUMMARY_AND_PASSES = new RegExp(`${JEST_SUMMARY.source}|^PASS `);

const bin = (name: string): string => join('node_modules', '.bin', name);

function jest(name: keyof typeof BUDGET_S, workers: number, needs: readonly string[], noise = JEST_SUMMARY): Stage {
  const jestResults = `${RESULTS_FOLDER}/${name}.json`;
  const flags = ['--verbose=false', '--json', `--outputFile=${jestResults}`, `--maxWorkers=${workers}`];
  return {
    name,
    commands: [[bin('jest'), '--selectProjects', name, ...flags]],
    budgetS: BUDGET_S[name],
    jestResults,
    needs,
    noise,
  };
}

const check = (name: keyof typeof BUDGET_S, ...commands: string[][]): Stage => ({
  name,
  commands,
  budgetS: BUDGET_S[name],
  cheap: true,
});

const SERVICES = ['build', 'environment'];

export const STAGES: readonly Stage[] = [
  check('format', [bin('prettier'), '--check', '--log-level', 'warn', '.']),
  check('lint', [bin('eslint'), '.', '--max-warnings', '0'], ['node', 'tools/openapi-lint.ts']),
  check(
    'types',
    [bin('tsc'), '--noEmit', '-p', 'tsconfig.json', '--incremental', 'false'],
    [bin('tsc'), '--noEmit', '-p', 'apps/web/tsconfig.json'],
    [bin('tsc'), '--noEmit', '-p', 'tools/tsconfig.json'],
  ),
  check('boundaries', ['node', 'tools/checks/boundaries.ts'], ['node', 'tools/checks/main.ts']),
  check('build', ['node', 'tools/build.ts']),
  {
    name: 'environment',
    commands: [['node', 'tools/gantry.ts', 'test-env']],
    budgetS: BUDGET_S.environment,
    needs: ['build'],
  },
  jest('unit', 2, [], JEST_SUMMARY_AND_PASSES),
  jest('contract', 2, SERVICES),
  jest('integration', 2, SERVICES),
  jest('e2e', 1, SERVICES),
  jest('faults', 1, SERVICES),
];
