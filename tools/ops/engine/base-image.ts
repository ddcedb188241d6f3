// The Debian image below ours: from a registry where one is reachable, else made with mmdebstrap; kept in the cache folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../host/find-program.ts';
import { CommandError } from '../host/run-command.ts';
import { shortHash } from '../data-layout.ts';
import { StepError, type Say } from '../step.ts';
import { isCached, openArchive, storeArchive } from './archive-cache.ts';
import type { DockerApi } from './docker-api.ts';

const REGISTRY_IMAGE = { name: 'debian', tag: 'bookworm-slim' };
/** A registry that answers starts within a second or two; the image has 30 MB. */
const PULL_TIMEOUT_MS = 60_000;
const LOOK_TIMEOUT_MS = 3_000;
const OWN_REPOSITORY = 'gantry-base';

/** mmdebstrap's arguments: Debian 12 without manuals and translations. Their hash is the name of the result. */
const RECIPE = [
  '--variant=minbase',
  '--include=ca-certificates',
  ...['man', 'doc', 'info', 'locale'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  'bookworm',
];

const ownTag = shortHash(RECIPE.join('\n') + process.arch);

/** Where the archive of a base that mmdebstrap made is kept. */
export const baseArchive = (cacheDir: string): string => join(cacheDir, 'bases', `${ownTag}.tar.zst`);

/** Whether Docker's own registry answers from here; a short look. */
export async function registryIsReachable(): Promise<boolean> {
  try {
    await fetch('https://registry-1.docker.io/v2/', { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
    return true; // it asks for a login, which is an answer
  } catch {
    return false; // no way there, whatever the reason
  }
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** What must be installed before a base can be made here. Ubuntu lacks Debian's keys, too. */
export function packagesOfMmdebstrap(): string[] {
  return [
    ...(findProgram('mmdebstrap') ? [] : ['mmdebstrap']),
    ...(existsSync(KEYRING) ? [] : ['debian-archive-keyring']),
  ];
}

/** The name of an image on which ours can be built, in this engine. `given` is used as it is. */
export async function ensureBaseImage(
  docker: DockerApi,
  cacheDir: string,
  given: string | undefined,
  say: Say,
): Promise<string> {
  if (given) return given;
  const own = `${OWN_REPOSITORY}:${ownTag}`;
  const pulled = `${REGISTRY_IMAGE.name}:${REGISTRY_IMAGE.tag}`;
  for (const present of [own, pulled]) if (await docker.hasImage(present)) return present;
  const archive = baseArchive(cacheDir);
  if (!isCached(archive)) {
    if (await pullBase(docker, say)) return pulled;
    await makeBase(archive, say);
  }
  say('importing the base image');
  await docker.importImage(OWN_REPOSITORY, ownTag, openArchive(archive));
  return own;
}

async function pullBase(docker: DockerApi, say: Say): Promise<boolean> {
  const image = `${REGISTRY_IMAGE.name}:${REGISTRY_IMAGE.tag}`;
  say(`pulling ${image}`);
  try {
    await docker.pullImage(REGISTRY_IMAGE.name, REGISTRY_IMAGE.tag, PULL_TIMEOUT_MS);
    return true;
  } catch (error) {
    say(`no registry gives ${image} (${error instanceof Error ? error.message : String(error)})`);
    return false;
  }
}

async function makeBase(archive: string, say: Say): Promise<void> {
  const program = findProgram('mmdebstrap');
  if (!program) {
    throw new StepError(
      'No container registry is reachable and mmdebstrap is not installed.',
      'Install mmdebstrap, or set GANTRY_SANDBOX_BASE to a Debian image that the engine has.',
    );
  }
  say('making a base image with mmdebstrap (about 30 s)');
  const child = spawn(program, RECIPE, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  // A failed mmdebstrap also ends its output: the archive counts only after its exit code.
  const whole = async (): Promise<void> => {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new CommandError('mmdebstrap', code, errors);
  };
  try {
    await storeArchive(archive, child.stdout, whole());
  } catch (error) {
    throw new StepError(
      `mmdebstrap could not make a base image: ${error instanceof Error ? error.message : String(error)}`,
      'See that a Debian mirror is reachable, or set GANTRY_SANDBOX_BASE to a Debian image that the engine has.',
      error,
    );
  }
}
