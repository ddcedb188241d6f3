// Builds everything that runs into dist/: Prisma's client, the services, sandboxd's bundle and the page. What is unchanged is skipped.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';
import { contentHash } from '../content-hash.ts';
import { withLock } from '../host/lock.ts';
import { readIfPresent } from '../host/private-file.ts';
import { runCommand } from '../host/run-command.ts';
import { StepError, type Say } from '../step.ts';
import { bundleSandboxd, SANDBOXD_BUNDLE } from './bundle-sandboxd.ts';

const at = (...parts: string[]): string => join(checkout, ...parts);
const generatedClient = at('libs', 'persistence', 'src', 'generated');
const recordFile = at('dist', '.build.json');
const LOCK_WAIT_MS = 120_000;

interface Part {
  name: string;
  /** Hash of everything that decides the result. */
  hash: () => string;
  /** Something that must exist for the part to count as built. */
  result: string;
  build: () => Promise<unknown>;
}

const isTest = (path: string): boolean => /\.(spec|[a-z]+-spec)\.tsx?$/.test(path);
const isGenerated = (path: string): boolean => path === generatedClient;
const common = ['package.json', 'package-lock.json', 'tsconfig.json'].map((file) => at(file));

const bin = (name: string, args: string[]): Promise<string> =>
  runCommand(at('node_modules', '.bin', name), args, {
    cwd: checkout,
    // The tools start with `#!/usr/bin/env node`: give them the Node that came with the project.
    env: { PATH: `${at('node_modules', '.bin')}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1' },
  });

const PARTS: readonly Part[] = [
  {
    name: "Prisma's client",
    hash: () => contentHash([at('prisma', 'schema.prisma'), at('prisma.config.ts'), at('package-lock.json')]),
    result: generatedClient,
    build: () => bin('prisma', ['generate']),
  },
  {
    name: 'services',
    hash: () =>
      contentHash(
        [...common, at('nest-cli.json'), at('prisma', 'schema.prisma'), ...serverSources()],
        [],
        (path) => isTest(path) || isGenerated(path),
      ),
    result: at('dist', 'apps', 'gateway', 'src', 'main.js'),
    build: () => bin('nest', ['build', '--all', '--parallel']),
  },
  {
    name: 'sandboxd',
    hash: () =>
      contentHash([...common, ...['apps/sandboxd', 'libs/kernel', 'libs/sandbox'].map((path) => at(path))], [], isTest),
    result: SANDBOXD_BUNDLE,
    build: bundleSandboxd,
  },
  {
    name: 'page',
    hash: () =>
      contentHash([...common, ...['apps/web', 'libs/protocol', 'libs/kernel'].map((path) => at(path))], [], isTest),
    result: at('dist', 'apps', 'web', 'index.html'),
    build: () => bin('vite', ['build', at('apps', 'web'), '--config', at('apps', 'web', 'vite.config.ts')]),
  },
];

function serverSources(): string[] {
  return [...['gateway', 'worker', 'broker'].map((app) => at('apps', app)), at('libs')];
}

/** Builds the parts whose sources changed since they were built last. Gives their names. */
export async function buildChanged(say: Say): Promise<string[]> {
  return withLock(at('dist', '.build.lock'), LOCK_WAIT_MS, async () => {
    const built = JSON.parse(readIfPresent(recordFile) ?? '{}') as Record<string, string>;
    const changed: string[] = [];
    for (const part of PARTS) {
      const hash = part.hash();
      if (built[part.name] === hash && existsSync(part.result)) continue;
      say(`building ${part.name}`);
      await buildPart(part);
      built[part.name] = hash;
      mkdirSync(at('dist'), { recursive: true });
      writeFileSync(recordFile, JSON.stringify(built, null, 2));
      changed.push(part.name);
    }
    return changed;
  });
}

/** What identifies the built code of a part. */
export function builtVersion(part: 'services' | 'page' | 'sandboxd'): string {
  const built = JSON.parse(readIfPresent(recordFile) ?? '{}') as Record<string, string>;
  const version = built[part];
  if (!version) throw new Error(`${part} was not built`);
  return version;
}

async function buildPart({ name, build, result }: Part): Promise<void> {
  try {
    await build();
  } catch (error) {
    throw new StepError(
      `The ${name} cannot be built: ${error instanceof Error ? error.message : String(error)}`,
      'Mend the error above; after an update run `npm ci` first.',
      error,
    );
  }
  if (!existsSync(result)) throw new StepError(`Building the ${name} did not make ${result}.`, 'Report it.');
}
