// The image of the sandboxes: built once per content and kept in the cache folder, so that a fresh clone or engine loads it in seconds.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { checkout } from '../checkout.ts';
import { contentHash } from '../content-hash.ts';
import type { ExtraCertificate } from '../host/extra-certificates.ts';
import type { Say } from '../step.ts';
import { isCached, openArchive, storeArchive } from './archive-cache.ts';
import { ensureBaseImage } from './base-image.ts';
import type { DockerApi } from './docker-api.ts';

const REPOSITORY = 'gantry-sandbox';
const dockerfile = join(checkout, 'docker', 'sandbox', 'Dockerfile');

export interface ImageInputs {
  cacheDir: string;
  /** Base named by the user. */
  base: string | undefined;
  certificates: readonly ExtraCertificate[];
}

/** `gantry-sandbox:<hash>` of everything that decides what is inside, except the day on which Debian's packages are fetched. */
export function sandboxImageName(inputs: ImageInputs): string {
  const words = [process.arch, inputs.base ?? '', ...inputs.certificates.map(({ pem }) => pem)];
  return `${REPOSITORY}:${contentHash([dockerfile], words).slice(0, 16)}`;
}

/** Where the image's archive is kept. */
export const imageArchive = (cacheDir: string, name: string): string =>
  join(cacheDir, 'images', `${name.replace(':', '-')}.tar.zst`);

/** Makes sure that the engine has the image: already there, or loaded from the cache, or built. Gives its name. */
export async function ensureSandboxImage(docker: DockerApi, inputs: ImageInputs, say: Say): Promise<string> {
  const name = sandboxImageName(inputs);
  if (await docker.hasImage(name)) return name;
  const archive = imageArchive(inputs.cacheDir, name);
  if (isCached(archive) && (await loadCached(docker, name, archive, say))) return name;
  const base = await ensureBaseImage(docker, inputs.cacheDir, inputs.base, say);
  say(`building ${name} on ${base}`);
  await buildOn(docker, name, base, inputs.certificates, say);
  say('keeping it in the cache');
  await storeArchive(archive, await docker.saveImage(name));
  return name;
}

/** Gives whether the engine has the image now. An archive that cannot be used is removed. */
async function loadCached(docker: DockerApi, name: string, archive: string, say: Say): Promise<boolean> {
  say('loading the image from the cache');
  let problem = 'it holds another image';
  try {
    await docker.loadImage(openArchive(archive));
    if (await docker.hasImage(name)) return true;
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  say(`the cached image cannot be used (${problem}): building it anew`);
  rmSync(archive, { force: true });
  return false;
}

async function buildOn(
  docker: DockerApi,
  name: string,
  base: string,
  certificates: readonly ExtraCertificate[],
  say: Say,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-image-'));
  try {
    copyFileSync(dockerfile, join(folder, 'Dockerfile'));
    writeCertificates(join(folder, 'ca'), certificates);
    const onLine = (line: string): void => {
      if (line.startsWith('Step ')) say(line.length > 100 ? `${line.slice(0, 100)}…` : line);
    };
    await docker.buildImage(name, tarOf(folder), { buildArgs: { BASE: base, ...proxyArguments() }, onLine });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** COPY needs something to copy where there is no extra certificate. */
export function writeCertificates(folder: string, certificates: readonly ExtraCertificate[]): void {
  mkdirSync(folder);
  writeFileSync(join(folder, '.keep'), '');
  for (const { fileName, pem } of certificates) writeFileSync(join(folder, fileName), pem);
}

/** A folder's content as a tar archive. */
export function tarOf(folder: string): Readable {
  const tar = spawn('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', '-', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  tar.once('error', (error) => tar.stdout.destroy(error));
  tar.once('exit', (code) => {
    if (code !== 0) tar.stdout.destroy(new Error(`tar of ${folder} ended with code ${code}`));
  });
  return tar.stdout;
}

/** Docker knows these build arguments by itself: they do not stay in the image. */
export function proxyArguments(): Record<string, string> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}
