// How the stages look on a terminal and in a CI log: plain lines, the last of them for scripts.
import { hasFailed, type Outcome, type Stage } from './stage.ts';

const NAME_WIDTH = 11;

/** A line of a stage's own output, marked so that stages which run side by side can be told apart. */
export const stageLine = (stage: string, line: string): string => `${stage.padEnd(NAME_WIDTH)} | ${line}`;

export function outcomeLine(outcome: Outcome, budgetS: number): string {
  const { name, seconds, passed, failed } = outcome;
  const verdict = hasFailed(outcome) ? 'FAILED' : 'ok';
  return `${name.padEnd(NAME_WIDTH)} ${verdict.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s of ${String(budgetS).padStart(3)} s  ${passed} good, ${failed} bad`;
}

/** The table at the end and, as the very last line, the counts over all stages: `N passed, N failed`. */
export function summary(stages: readonly Stage[], outcomes: readonly Outcome[], seconds: number): string {
  const lines = outcomes.flatMap((outcome) => [
    outcomeLine(outcome, stages.find(({ name }) => name === outcome.name)?.budgetS ?? 0),
    ...outcome.reasons.map((reason) => `${' '.repeat(NAME_WIDTH)}   ${reason}`),
  ]);
  const sum = (pick: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const counts = `${sum((outcome) => outcome.passed)} passed, ${sum((outcome) => outcome.failed)} failed`;
  return ['', ...lines, `total ${seconds.toFixed(1)} s`, counts].join('\n');
}
