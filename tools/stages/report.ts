// How the stages look on a terminal and in a CI log: plain lines, the last of them for scripts.
import { hasFailed, type FailedTest, type Outcome, type Stage } from './stage.ts';

const NAME_WIDTH = 11;

/** A line of a stage's own output, marked so that stages which run side by side can be told apart. */
export const stageLine = (stage: string, line: string): string => `${stage.padEnd(NAME_WIDTH)} | ${line}`;

export function outcomeLine(outcome: Outcome, budgetS: number): string {
  const { name, seconds, passed, failed } = outcome;
  const verdict = hasFailed(outcome) ? 'FAILED' : 'ok';
  return `${name.padEnd(NAME_WIDTH)} ${verdict.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s of ${String(budgetS).padStart(3)} s  ${passed} good, ${failed} bad`;
}

/** More than this is read in test-results/<stage>.log. */
const SHOWN_FAILURES = 20;
const MAX_LINE_CHARS = 300;

const cut = (line: string): string => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line);

const failedTestLines = (stage: string, { file, title, message }: FailedTest): string[] => [
  cut(`  ${stage}: ${file}: ${title}`),
  cut(`      ${message}`),
];

/** What failed by name, for who sees the last lines only: stages that are no tests with their reasons, then each test. */
function failures(outcomes: readonly Outcome[]): string[] {
  const stages = outcomes
    .filter((outcome) => hasFailed(outcome) && (outcome.failedTests ?? []).length === 0)
    .map(({ name, reasons }) => [cut(`  ${name}: ${reasons.join(' ')}`)]);
  const tests = outcomes.flatMap(({ name, failedTests = [] }) =>
    failedTests.map((test) => failedTestLines(name, test)),
  );
  const all = [...stages, ...tests];
  if (all.length === 0) return [];
  const left = all.length - SHOWN_FAILURES;
  return ['failed:', ...all.slice(0, SHOWN_FAILURES).flat(), ...(left > 0 ? [`  and ${left} more`] : [])];
}

/** The table at the end, what failed by name, and, as the very last line, the counts over all stages: `N passed, N failed`. */
export function summary(stages: readonly Stage[], outcomes: readonly Outcome[], seconds: number): string {
  const lines = outcomes.flatMap((outcome) => [
    outcomeLine(outcome, stages.find(({ name }) => name === outcome.name)?.budgetS ?? 0),
    ...outcome.reasons.map((reason) => `${' '.repeat(NAME_WIDTH)}   ${reason}`),
  ]);
  const sum = (pick: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const counts = `${sum((outcome) => outcome.passed)} passed, ${sum((outcome) => outcome.failed)} failed`;
  return ['', ...lines, `total ${seconds.toFixed(1)} s`, ...failures(outcomes), counts].join('\n');
}
