// Imports a library of the project straight from its sources, for tools that run before (or without) a build.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { projectSources } from './build/bundle-sandboxd.ts';
import { checkout } from './checkout.ts';

/**
 * The exports of `libs/<library>/src/index.ts`, bundled by esbuild with everything that it imports (about 50 ms).
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
    plugins: [projectSources],
  });
  // A folder of our own, which nobody else can write to: what lies in it is run.
  const folder = mkdtempSync(join(tmpdir(), 'gantry-import-'));
  try {
    const file = join(folder, `${library}.cjs`);
    writeFileSync(file, result.outputFiles[0]?.contents ?? '');
    return createRequire(import.meta.url)(file) as T;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
