// The commands of the command line: names, help, and what each does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { parseArgs } from 'node:util';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { checkout } from '../checkout.ts';
import { buildChanged } from '../build/build.ts';
import { requireDataFolder } from '../host/data-folder.ts';
import { withLock } from '../host/lock.ts';
import { anythingRuns } from '../supervisor/control-client.ts';
import { ReportedFailure, StepError, Steps } from '../step.ts';
import { backup, restore } from './backup.ts';
import { makeContext, type Context } from './context.ts';
import { down } from './down.ts';
import { readableLines } from './log-line.ts';
import { logs } from './logs.ts';
import { requireRoot } from './prepare.ts';
import { reset } from './reset.ts';
import { status } from './status.ts';
import { startTestEnv, stopTestEnv } from './test-env.ts';
import { up } from './up.ts';

/** Two commands that change the same instance wait for each other this long. */
const LOCK_WAIT_MS = 5_000;

export interface Call {
  env: NodeJS.ProcessEnv;
  yes: boolean;
  /** Options of the command. */
  values: Record<string, string | boolean | undefined>;
  /** What follows `--`. */
  rest: string[];
}

type CommandOptions = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

export interface Command {
  summary: string;
  /** Options beside --yes and --help, each with its line of help. */
  options?: CommandOptions;
  optionHelp?: Record<string, string>;
  /** Gives the exit code. */
  run(call: Call): Promise<number>;
}

const contextOf = ({ env, yes }: Call, dataFolder: 'data' | 'data-test' = 'data'): Promise<Context> =>
  makeContext({ env, yes, dataFolder });

/** Tests have an installation of their own, so nothing of the user's environment leads them to another. */
const testContextOf = ({ env, yes }: Call): Promise<Context> =>
  makeContext({ env: withoutOptions(env), yes, dataFolder: 'data-test' });

const TEST_OPTIONS = ['GANTRY_CACHE_DIR', 'GANTRY_ENGINE_DIR', 'DOCKER_SOCKET', 'DOCKER_HOST', 'NODE_EXTRA_CA_CERTS'];

function withoutOptions(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = ['HOME', 'PATH', 'CI', 'XDG_CACHE_HOME', 'HTTPS_PROXY', ...TEST_OPTIONS];
  return Object.fromEntries(kept.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

const exclusively = async (context: Context, work: () => Promise<unknown>): Promise<number> => {
  await context.steps.run('Data folder', () => requireDataFolder(context.layout.root));
  await withLock(`${context.layout.root}.lock`, LOCK_WAIT_MS, work);
  return 0;
};

async function start(call: Call, options: { restart: boolean }): Promise<number> {
  const context = await contextOf(call);
  await requireRoot(context);
  return exclusively(context, async () => {
    const { url, token } = await up(context, options);
    process.stdout.write(`ready ${url} ${token}\n`);
  });
}

async function restart(call: Call): Promise<number> {
  const { layout, steps } = await contextOf(call);
  await steps.run('Restart', async () => {
    if (await anythingRuns(layout)) return;
    throw new StepError('Nothing runs that could be restarted.', 'Start it: make up');
  });
  return start(call, { restart: true });
}

async function showLogs(call: Call): Promise<number> {
  const { layout, steps } = await contextOf(call);
  const raw = call.values['raw'] === true;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  await steps.run('Logs', () =>
    logs(
      layout.logs,
      {
        service: (call.values['service'] as string | undefined) ?? call.env['SERVICE'],
        lines: Number(call.values['lines'] ?? 20),
        follow: call.values['no-follow'] !== true,
        ...(raw ? {} : { readable: (line: string) => readableLines(line, { colour: process.stdout.isTTY }) }),
      },
      (text) => process.stdout.write(text),
      stop.signal,
    ),
  );
  return 0;
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

/** `make test`: the test services, while there is a terminal to ask on, then every stage. */
async function test(call: Call): Promise<number> {
  const context = await testContextOf(call);
  try {
    await exclusively(context, () => startTestEnv(context));
  } catch (error) {
    // It has been printed. The stage `environment` tries again and counts it; stages that need no services still run.
    if (!(error instanceof ReportedFailure)) throw error;
  }
  const stages = spawn(process.execPath, [join(checkout, 'tools', 'stages', 'main.ts'), ...call.rest], {
    cwd: checkout,
    stdio: 'inherit',
  });
  const [code] = (await once(stages, 'exit')) as [number | null];
  return code ?? 1;
}

/** `make chaos`: a build and the test services, then the scenarios on a stack of their own. */
async function chaos(call: Call): Promise<number> {
  const context = await testContextOf(call);
  await context.steps.run('Build', buildChanged);
  await exclusively(context, () => startTestEnv(context));
  const given = ['seed', 'scale', 'only'].flatMap((name) => {
    const value = call.values[name];
    return typeof value === 'string' ? [`--${name}`, value] : [];
  });
  const scenarios = spawn(process.execPath, [join(checkout, 'tools', 'chaos', 'main.ts'), ...given], {
    cwd: checkout,
    stdio: 'inherit',
  });
  const [code] = (await once(scenarios, 'exit')) as [number | null];
  return code ?? 1;
}

export const COMMANDS: Record<string, Command> = {
  up: {
    summary: 'Bring everything up. The last line is `ready <url> <sign-in token>`. Twice changes nothing.',
    run: (call) => start(call, { restart: false }),
  },
  down: {
    summary: 'End live runs as interrupted and stop what was started. Data stays.',
    run: async (call) => {
      const context = await contextOf(call);
      return exclusively(context, () => down(context));
    },
  },
  restart: {
    summary: 'Start gateway, worker and broker anew, with a new build if there is one. Agents keep working.',
    run: restart,
  },
  reset: {
    summary: 'Stop everything and delete this installation’s data. Asks first.',
    run: async (call) => {
      const context = await contextOf(call);
      const interactive = process.stdin.isTTY && process.stderr.isTTY;
      return exclusively(context, () => reset(context, { yes: call.yes, interactive, ask }));
    },
  },
  backup: {
    summary: 'Write everything that cannot be made again to a file; also while Gantry runs (docs/runbook/backup.md).',
    options: { to: { type: 'string' } },
    optionHelp: { 'to <file>': 'where to (backups/gantry-<time>.backup); also TO=<file>' },
    run: async (call) => {
      const context = await contextOf(call);
      return exclusively(context, async () => {
        const path = await backup(context, call.values['to'] as string | undefined);
        process.stdout.write(`${path}\n`);
      });
    },
  },
  restore: {
    summary: 'Stop Gantry and replace its data by a backup’s. Asks first.',
    options: { from: { type: 'string' } },
    optionHelp: { 'from <file>': 'the backup; also FROM=<file>' },
    run: async (call) => {
      const context = await contextOf(call);
      await requireRoot(context);
      const interactive = process.stdin.isTTY && process.stderr.isTTY;
      const from = call.values['from'] as string | undefined;
      return exclusively(context, () => restore(context, from, { yes: call.yes, interactive, ask }));
    },
  },
  logs: {
    summary: 'Show and follow the logs, readable; RAW=1 for JSON.',
    options: {
      service: { type: 'string' },
      lines: { type: 'string' },
      'no-follow': { type: 'boolean' },
      raw: { type: 'boolean' },
    },
    optionHelp: {
      'service <name>': 'only this service; also SERVICE=<name>',
      'lines <n>': 'lines of each log to begin with (20)',
      'no-follow': 'end after them',
      raw: 'lines as the services wrote them: JSON',
    },
    run: showLogs,
  },
  status: {
    summary: 'Show what runs. The exit code is 1 unless everything does.',
    run: async (call) => {
      const { text, healthy } = await status(await contextOf(call));
      process.stdout.write(`${text}\n`);
      return healthy ? 0 : 1;
    },
  },
  build: {
    summary: 'Build what changed into dist/.',
    run: async () => {
      await new Steps().run('Build', buildChanged);
      return 0;
    },
  },
  'test-env': {
    summary:
      'Start what tests need (Postgres, Redis, sandbox image, tools) and describe it in data-test/test-env.json.',
    options: { down: { type: 'boolean' } },
    optionHelp: { down: 'stop it' },
    run: async (call) => {
      const context = await testContextOf(call);
      return exclusively(context, () => (call.values['down'] ? stopTestEnv(context) : startTestEnv(context)));
    },
  },
  test: {
    summary: 'Start the test services and run every test stage; what follows `--` goes to the stages.',
    run: test,
  },
  chaos: {
    summary:
      'Break a private stack in every way that Gantry promises to survive, and show what held (docs/spec/chaos.md).',
    options: { seed: { type: 'string' }, scale: { type: 'string' }, only: { type: 'string' } },
    optionHelp: {
      'seed <n>': 'repeat the decisions of an earlier run; also SEED=<n>',
      'scale <x>': 'more or fewer faults and runs (1); also SCALE=<x>',
      'only <names>': 'these scenarios, separated by commas; also ONLY=<names>',
    },
    run: chaos,
  },
};
