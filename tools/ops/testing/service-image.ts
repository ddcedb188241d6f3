// Builds docker/service.Dockerfile on our own base, without a registry: node and npm come from this machine's npm packages.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkout } from '../checkout.ts';
import { contentHash } from '../content-hash.ts';
import { ensureBaseImage } from '../engine/base-image.ts';
import type { DockerApi } from '../engine/docker-api.ts';
import { proxyArguments, tarOf, writeCertificates } from '../engine/sandbox-image.ts';
import { packagedNode } from '../engine/tool-cache.ts';
import { hostExtraCertificates } from '../host/extra-certificates.ts';
import { findProgram } from '../host/find-program.ts';
import { runCommand } from '../host/run-command.ts';

/** What the Dockerfile copies: tests, documents and tools of other parts do not change the image. */
const SOURCES = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'nest-cli.json', 'prisma.config.ts', '.dockerignore'],
  ...['apps', 'libs', 'prisma', 'docker', 'tools/ops', 'tools/npm-empty', 'tools/prisma', 'tools/build.ts'],
  'tools/fetch-claude.ts',
];
const skipped = (path: string): boolean => /-spec\.ts$|\.spec\.tsx?$|\/generated$|\/tools\/ops\/testing$/.test(path);

const NAME = 'gantry-service:test';
/** The stages that are dear and change seldom, by a name: with it they are the cache of the next build, and no leftovers. */
const CACHE = { name: 'gantry-service:test-packages', target: 'sandbox-tools' };
/** Not that of images which a user built with docker-compose.yml: nothing of theirs is removed. */
const IMAGE_LABEL = 'service-test';
/** Carried by everything that is built here. */
export const SERVICE_TEST_LABEL = `gantry.image=${IMAGE_LABEL}`;
const SOURCES_LABEL = 'gantry.sources';

/** Gives the image's name; a second call with the same sources finds it there. Leaves no image without a name. */
export async function ensureServiceImage(docker: DockerApi, cacheDir: string): Promise<string> {
  const paths = SOURCES.map((path) => join(checkout, path));
  const sources = contentHash(paths, [process.version], skipped);
  if ((await docker.imageLabel(NAME, SOURCES_LABEL)) === sources) return NAME;
  const base = await ensureBaseImage(docker, cacheDir, undefined, () => undefined);
  const folder = mkdtempSync(join(tmpdir(), 'gantry-service-image-'));
  try {
    for (const path of SOURCES) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(checkout, path), join(folder, path), { recursive: true, filter: (source) => !skipped(source) });
    }
    addToolchain(join(folder, 'docker', 'toolchain'));
    rmSync(join(folder, 'docker', 'sandbox', 'ca'), { recursive: true });
    writeCertificates(
      join(folder, 'docker', 'sandbox', 'ca'),
      hostExtraCertificates(process.env['NODE_EXTRA_CA_CERTS']),
    );
    const registry = (await runCommand('npm', ['config', 'get', 'registry'], { cwd: tmpdir() })).trim();
    const options = {
      dockerfile: 'docker/service.Dockerfile',
      buildArgs: { BASE: base, IMAGE_LABEL, NPM_CONFIG_REGISTRY: registry, ...proxyArguments() },
    };
    await docker.buildImage(CACHE.name, tarOf(folder), { ...options, target: CACHE.target });
    await docker.buildImage(NAME, tarOf(folder), { ...options, labels: { [SOURCES_LABEL]: sources } });
  } finally {
    rmSync(folder, { recursive: true });
    await docker.pruneImages(SERVICE_TEST_LABEL); // of this build and of earlier ones, failed ones too
  }
  return NAME;
}

const PROXY_NAME = 'gantry-proxy:test';

/** docker/proxy on our own base; the same rules. */
export async function ensureProxyImage(docker: DockerApi, cacheDir: string): Promise<string> {
  const folder = join(checkout, 'docker', 'proxy');
  const sources = contentHash([folder], [], () => false);
  if ((await docker.imageLabel(PROXY_NAME, SOURCES_LABEL)) === sources) return PROXY_NAME;
  const base = await ensureBaseImage(docker, cacheDir, undefined, () => undefined);
  try {
    const buildArgs = { BASE: base, IMAGE_LABEL, ...proxyArguments() };
    await docker.buildImage(PROXY_NAME, tarOf(folder), { buildArgs, labels: { [SOURCES_LABEL]: sources } });
  } finally {
    await docker.pruneImages(SERVICE_TEST_LABEL);
  }
  return PROXY_NAME;
}

/** A registry's node image has these two; our own base has neither. */
function addToolchain(folder: string): void {
  const npm = findProgram('npm');
  if (!npm) throw new Error('npm is not on PATH');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'lib', 'node_modules'), { recursive: true });
  cpSync(packagedNode(), join(folder, 'bin', 'node'));
  // …/lib/node_modules/npm/bin/npm-cli.js
  cpSync(join(dirname(realpathSync(npm)), '..'), join(folder, 'lib', 'node_modules', 'npm'), { recursive: true });
}
