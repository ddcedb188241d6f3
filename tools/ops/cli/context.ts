// What every command works with: the configuration, the data folder, the printed steps.
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment, MakeConfig, Problem } from '#config';
import { checkout } from '../checkout.ts';
import { dataLayout, type DataLayout } from '../data-layout.ts';
import { DEFAULT_ENGINE_DIR, engineFolders, type EngineFolders } from '../engine/docker-engine.ts';
import { requireNoFile } from '../host/data-folder.ts';
import { importSource } from '../import-source.ts';
import { StepError, Steps } from '../step.ts';

export interface Context {
  env: Environment;
  config: MakeConfig;
  layout: DataLayout;
  cacheDir: string;
  engine: EngineFolders;
  steps: Steps;
  /** No question is asked: --yes, CI, or no terminal. */
  assumeYes: boolean;
}

export interface ContextOptions {
  env: Environment;
  yes: boolean;
  /** Used when GANTRY_DATA_DIR is not set; below the checkout. */
  dataFolder: 'data' | 'data-test';
}

export async function makeContext({ env, yes, dataFolder }: ContextOptions): Promise<Context> {
  const steps = new Steps();
  return steps.run('Configuration', async () => {
    const library = await importSource<typeof import('#config')>('config');
    const config = checked(library, env, join(checkout, dataFolder));
    requireNoFile(config.dataDir);
    const interactive = process.stdin.isTTY && process.stderr.isTTY && !env['CI'];
    return {
      env,
      config,
      layout: dataLayout(config.dataDir),
      cacheDir: config.cacheDir ?? defaultCacheDir(env),
      engine: engineFolders(config.engineDir ?? DEFAULT_ENGINE_DIR),
      steps,
      assumeYes: yes || !interactive,
    };
  });
}

type ConfigLibrary = typeof import('#config');

/** Stand in for what `up` finds or makes itself, so that the rest of a service's options can be checked before anything is started. */
const MADE_LATER = {
  DATABASE_URL: 'postgresql://127.0.0.1/gantry',
  REDIS_URL: 'redis://127.0.0.1',
  SANDBOX_IMAGE: 'gantry-sandbox',
  SANDBOX_NODE_FILE: '/node',
  SANDBOX_CLAUDE_FILE: '/claude',
  SANDBOX_SANDBOXD_FILE: '/sandboxd.cjs',
};

/** The configuration of `make`, when the services' is valid too: a wrong option is found now, not when a service does not start. */
function checked(library: ConfigLibrary, env: Environment, defaultDataDir: string): MakeConfig {
  const forService = (program: 'gateway' | 'worker' | 'broker') => ({
    ...MADE_LATER,
    ...library.environmentFor(program, env),
  });
  const attempts = [
    () => library.loadMakeConfig(env, defaultDataDir),
    () => library.loadGatewayConfig(forService('gateway')),
    () => library.loadWorkerConfig(forService('worker')),
    () => library.loadBrokerConfig(forService('broker')),
  ];
  const problems = new Set(attempts.flatMap((load) => problemsOf(load)));
  if (problems.size === 0) return library.loadMakeConfig(env, defaultDataDir);
  throw new StepError(
    `The configuration is invalid:\n${[...problems].join('\n')}`,
    'Mend these variables; docs/configuration.md lists them all.',
  );
}

function problemsOf(load: () => unknown): string[] {
  try {
    load();
    return [];
  } catch (error) {
    const { details } = error as { details?: { problems?: Problem[] } };
    if (!details?.problems) throw error;
    return details.problems.map(({ option, problem }) => `${option} ${problem}`);
  }
}

export const defaultCacheDir = (env: Environment): string =>
  join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'gantry');
