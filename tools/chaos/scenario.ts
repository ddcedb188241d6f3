// What a scenario is: a function of seed, scale and a place to build a stack, that gives what it measured beside what was promised.
import type { ChaosStack, ChaosStackOptions } from './stack/chaos-stack.ts';
import type { PostgresProcess } from './stack/postgres-process.ts';
import type { Seeded } from './seeded.ts';

/** One promise, with its goal and what was seen. */
export interface Finding {
  what: string;
  goal: string;
  measured: string;
  kept: boolean;
}

/** What a scenario works with. */
export interface Ground {
  random: Seeded;
  /** `full` at scale 1, in proportion at another, but never less than `least`. */
  size: (full: number, least: number) => number;
  /** The server that all stacks share; a scenario may stop it and must start it again. */
  postgres: PostgresProcess;
  /** A private stack; it is taken down after the scenario. */
  stack: (options?: ChaosStackOptions) => Promise<ChaosStack>;
  /** Progress, for who watches. */
  say: (text: string) => void;
}

export interface Scenario {
  name: string;
  /** One sentence: what is done to what. */
  summary: string;
  /** Throws when it cannot go on: a promise that something happens at all was broken then. */
  run(ground: Ground): Promise<Finding[]>;
}

/** A promise that something never happens. `found`: what happened, by name. */
export const never = (what: string, found: readonly string[]): Finding => ({
  what,
  goal: '0',
  measured: found.length === 0 ? '0' : `${found.length} (${found.slice(0, 5).join(', ')})`,
  kept: found.length === 0,
});

export const atMost = (what: string, goal: number, measured: number, unit: string): Finding => ({
  what,
  goal: `<= ${goal} ${unit}`,
  measured: `${round(measured)} ${unit}`,
  kept: measured <= goal,
});

export const equal = (what: string, goal: number | string, measured: number | string): Finding => ({
  what,
  goal: String(goal),
  measured: String(measured),
  kept: goal === measured,
});

/** A number beside the promises, without a goal of its own. */
export const noted = (what: string, measured: string): Finding => ({ what, goal: '-', measured, kept: true });

const round = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));

/** The value below which the given share of the samples lies, by nearest rank. NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
