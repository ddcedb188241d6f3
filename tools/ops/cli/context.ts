// What every command works with: the configuration, the data folder, the printed steps.
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment, MakeConfig } from '#config';
import { checkout } from '../checkout.ts';
import { dataLayout, type DataLayout } from '../data-layout.ts';
import { DEFAULT_ENGINE_DIR, engineFolders, type EngineFolders } from '../engine/docker-engine.ts';
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
    const { loadMakeConfig } = await importSource<typeof import('#config')>('config');
    const config = parsed(() => loadMakeConfig(env, join(checkout, dataFolder)));
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

function parsed<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StepError(reason, 'Mend these variables; docs/configuration.md lists them all.', error);
  }
}

export const defaultCacheDir = (env: Environment): string =>
  join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'gantry');
