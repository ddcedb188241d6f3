// Bundles apps/sandboxd into the one file that is mounted into sandboxes.
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { checkout } from '../checkout.ts';

export const SANDBOXD_BUNDLE = join(checkout, 'dist', 'sandboxd', 'sandboxd.cjs');

/** `#kernel` and its siblings, from their sources as package.json's imports have it. */
export const projectSources: Plugin = {
  name: 'project-sources',
  setup(setup): void {
    setup.onResolve({ filter: /^#/ }, ({ path }) => ({ path: join(checkout, 'libs', sourceOf(path.slice(1))) }));
  },
};

/** `sandbox/wire` -> `sandbox/src/wire/index.ts`. */
function sourceOf(library: string): string {
  const [name = '', ...inner] = library.split('/');
  return join(name, 'src', ...inner, 'index.ts');
}

export async function bundleSandboxd(): Promise<void> {
  await build({
    entryPoints: [join(checkout, 'apps', 'sandboxd', 'src', 'main.ts')],
    outfile: SANDBOXD_BUNDLE,
    absWorkingDir: checkout,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    logLevel: 'silent',
    plugins: [projectSources],
  });
}
