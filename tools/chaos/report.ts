// The table of what was promised and what was measured, for people and for docs/reliability.md.
import type { Outcome } from './run-scenario.ts';
import { isKept } from './run-scenario.ts';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(({ name, findings, error }) => [
    ...findings.map(({ what, goal, measured, kept }) => [name, what, goal, measured, kept ? 'kept' : 'BROKEN']),
    ...(error === undefined ? [] : [[name, 'comes to its end', 'yes', firstLine(error), 'BROKEN']]),
  ]);
  const head = ['scenario', 'promise', 'goal', 'measured', 'verdict'];
  return [row(head), row(head.map(() => '---')), ...rows.map((cells) => row(cells.map(inCell)))].join('\n');
}

/** One line about each broken scenario, and the counts as the very last line. */
export function conclusion(outcomes: readonly Outcome[], seed: number): string {
  const broken = outcomes.filter((outcome) => !isKept(outcome));
  const lines = broken.map(
    ({ name, evidence }) => `${name}: a promise is broken; seed ${seed}; evidence in ${evidence}`,
  );
  return [...lines, `${outcomes.length - broken.length} kept, ${broken.length} broken`].join('\n');
}

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n')[0] ?? '';
const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
