// Runs one stage as child processes and judges it: exit codes, budget, and for Jest what its results say.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { RESULTS_FOLDER } from './catalog.ts';
import { readJestResults } from './jest-results.ts';
import { killTree } from './process-tree.ts';
import type { Outcome, Stage } from './stage.ts';

export interface Surroundings {
  /** The checkout: commands run here. */
  folder: string;
  /** Takes each line of a stage as it comes. */
  print: (stage: string, line: string) => void;
  /** Every process that runs, for whoever has to end them early. */
  running: Set<number>;
}

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A stage that runs this many times its budget hangs. */
const HANG_FACTOR = 3;
/** How long output may still come after a process is gone: a service it started may hold its pipe for ever. */
const DRAIN_MS = 1000;

export async function runStage(stage: Stage, surroundings: Surroundings): Promise<Outcome> {
  const { folder } = surroundings;
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  mkdirSync(join(folder, RESULTS_FOLDER), { recursive: true });
  if (stage.jestResults !== undefined) rmSync(join(folder, stage.jestResults), { force: true });
  const log = openSync(join(folder, RESULTS_FOLDER, `${stage.name}.log`), 'w');
  const reasons: string[] = [];
  for (const command of stage.commands) {
    const leftMs = stage.budgetS * HANG_FACTOR * 1000 - elapsedMs();
    const result = await runCommand(command, leftMs, surroundings, (line) => {
      writeSync(log, `${line}\n`);
      if (stage.noise?.test(line) !== true) surroundings.print(stage.name, line);
    });
    if (result.problem !== undefined) reasons.push(result.problem);
    if (result.hung) break;
  }
  closeSync(log);
  return judge(stage, elapsedMs() / 1000, reasons, folder);
}

interface CommandResult {
  problem?: string | undefined;
  hung: boolean;
}

async function runCommand(
  command: readonly string[],
  limitMs: number,
  { folder, running }: Surroundings,
  onLine: (line: string) => void,
): Promise<CommandResult> {
  const child = start(command, folder);
  const { pid } = child;
  if (pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    return { problem: `${nameOf(command)} could not be started: ${error.message}`, hung: false };
  }
  running.add(pid);
  const alarm = { rang: false };
  const timer = setTimeout(
    () => {
      alarm.rang = true;
      killTree(pid);
    },
    Math.max(0, limitMs),
  );
  const ending = await follow(child, onLine);
  clearTimeout(timer);
  running.delete(pid);
  if (alarm.rang) return { problem: `Killed: it ran ${HANG_FACTOR} times the budget.`, hung: true };
  return { problem: problemOf(command, ending), hung: false };
}

function start([program = 'node', ...argv]: readonly string[], folder: string): ChildProcess {
  const { FORCE_COLOR: _colour, ...environment } = process.env;
  return spawn(program === 'node' ? process.execPath : program, argv, {
    cwd: folder,
    // A process group of its own, so that the whole stage can be ended at once.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The pinned Node of node_modules comes first, also for tools that begin with `#!/usr/bin/env node`.
    env: {
      ...environment,
      NO_COLOR: '1',
      PATH: `${join(folder, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    },
  });
}

/** Resolves when the process is gone and its output is read. */
async function follow(child: ChildProcess, onLine: (line: string) => void): Promise<Ending> {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine);
  }
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return { code, signal };
}

const nameOf = (command: readonly string[]): string => command.slice(0, 4).join(' ');

function problemOf(command: readonly string[], { code, signal }: Ending): string | undefined {
  if (signal !== null) return `${nameOf(command)} was ended by ${signal}.`;
  return code === 0 ? undefined : `${nameOf(command)} ended with exit code ${code}.`;
}

/** The outcome of a stage that took `seconds`, from what went wrong with its commands and from its results below `folder`. */
export function judge(stage: Stage, seconds: number, problems: readonly string[], folder: string): Outcome {
  const reasons = [...problems];
  if (seconds > stage.budgetS) reasons.push(`Over budget: ${seconds.toFixed(1)} s of ${stage.budgetS} s.`);
  const { name } = stage;
  if (stage.jestResults === undefined) {
    const ok = reasons.length === 0;
    return { name, seconds, passed: ok ? 1 : 0, failed: ok ? 0 : 1, reasons };
  }
  const { failedTests, ...counts } = readJestResults(join(folder, stage.jestResults), folder);
  // Failed tests are counted by themselves; what else is wrong (budget, a crash after the last test) counts once.
  const failed = counts.failed === 0 && reasons.length > 0 ? 1 : counts.failed;
  return { name, seconds, passed: counts.passed, failed, reasons: [...counts.reasons, ...reasons], failedTests };
}
