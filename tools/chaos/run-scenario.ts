// Runs one scenario on its own ground, takes down what it built, and keeps the evidence when a promise was broken.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../ops/checkout.ts';
import { LEDGER_FILE } from './ledger.ts';
import type { Finding, Ground, Scenario } from './scenario.ts';
import { Seeded } from './seeded.ts';
import { ChaosStack } from './stack/chaos-stack.ts';
import type { PostgresProcess } from './stack/postgres-process.ts';

export interface Settings {
  seed: number;
  /** 1 is a few minutes for all scenarios together. */
  scale: number;
  postgres: PostgresProcess;
  say: (text: string) => void;
  /** Stacks that stand now, for who must take them down in a hurry. */
  standing?: Set<ChaosStack>;
}

export interface Outcome {
  name: string;
  seconds: number;
  findings: Finding[];
  /** Why the scenario could not go on. */
  error?: unknown;
  /** Folder with what is left of a broken promise. */
  evidence?: string;
}

export const isKept = ({ findings, error }: Outcome): boolean =>
  error === undefined && findings.length > 0 && findings.every(({ kept }) => kept);

export const EVIDENCE_FOLDER = join('test-results', 'chaos');

export async function runScenario(scenario: Scenario, settings: Settings): Promise<Outcome> {
  const { seed, scale, postgres, say, standing } = settings;
  const startedAt = performance.now();
  const stacks: ChaosStack[] = [];
  const random = new Seeded(seed).fork(scenario.name);
  const ground: Ground = {
    random,
    postgres,
    say,
    size: (full, least) => Math.max(least, Math.round(full * scale)),
    stack: async (options = {}) => {
      const stack = await ChaosStack.start({ ...options, postgres, random: random.fork(`stack/${stacks.length}`) });
      stacks.push(stack);
      standing?.add(stack);
      return stack;
    },
  };
  const outcome: Outcome = { name: scenario.name, seconds: 0, findings: [] };
  try {
    outcome.findings = await scenario.run(ground);
  } catch (error) {
    outcome.error = error;
  }
  if (!isKept(outcome)) outcome.evidence = keepEvidence(outcome, settings, stacks);
  for (const stack of stacks) {
    standing?.delete(stack);
    await stack.close();
  }
  outcome.seconds = (performance.now() - startedAt) / 1000;
  return outcome;
}

/** Logs of every process, the ledgers, and what was measured. */
function keepEvidence(outcome: Outcome, settings: Settings, stacks: readonly ChaosStack[]): string {
  const folder = join(EVIDENCE_FOLDER, `${outcome.name}-${settings.seed}`);
  const path = join(checkout, folder);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  const { findings, error } = outcome;
  const text = error instanceof Error ? error.stack : error;
  const { seed, scale } = settings;
  writeFileSync(join(path, 'outcome.json'), JSON.stringify({ seed, scale, findings, error: text }, null, 2));
  writeFileSync(join(path, 'postgres.log'), settings.postgres.log.join(''));
  stacks.forEach((stack, index) => {
    for (const [name, lines] of stack.logs()) {
      writeFileSync(join(path, `${index}-${name}.log`), lines.map((line) => `${line}\n`).join(''));
    }
    if (existsSync(stack.projectRoot)) {
      for (const project of readdirSync(stack.projectRoot)) {
        const ledger = join(stack.projectRoot, project, LEDGER_FILE);
        if (existsSync(ledger)) copyFileSync(ledger, join(path, `${index}-${project}.ledger`));
      }
    }
  });
  return folder;
}
