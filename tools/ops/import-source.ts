// Imports a library of the project straight from its sources, for tools that run before (or without) a build.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { projectSources } from './build/bundle-sandboxd.ts';
import { checkout } from './checkout.ts';

/**
 * The exports of `libs/<library>/src/index.ts`, bundled in memory by esbuild (about 50 ms). npm packages stay imports.
 * Use it as `await importSource<typeof import('#config')>('config')`.
 */
export async function importSource<T>(library: string): Promise<T> {
  const result = await build({
    entryPoints: [join(checkout, 'libs', library, 'src', 'index.ts')],
    absWorkingDir: checkout,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs', // loads in Jest, too
    target: 'node20',
    conditions: ['source'],
    packages: 'external',
    // Keep '#…' imports inside the bundle: `packages: external` would leave them to Node, which finds only dist.
    plugins: [projectSources],
  });
  const code = result.outputFiles[0]?.text ?? '';
  const folder = join(checkout, 'node_modules', '.cache', 'gantry-tools');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${library}-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.cjs`);
  writeFileSync(file, code);
  return createRequire(import.meta.url)(file) as T;
}
