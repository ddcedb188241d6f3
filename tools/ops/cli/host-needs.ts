// Which changes of the machine a command needs, found before anything is changed.
import { baseArchive, packagesOfMmdebstrap, registryIsReachable } from '../engine/base-image.ts';
import { imageArchive, sandboxImageName } from '../engine/sandbox-image.ts';
import { isCached } from '../engine/archive-cache.ts';
import { dockerdIsHere, findEngine } from '../engine/docker-engine.ts';
import type { HostChange } from '../host/consent.ts';
import { findProgram } from '../host/find-program.ts';
import { hostExtraCertificates } from '../host/extra-certificates.ts';
import { existingPostgresUser } from '../host/system-user.ts';
import { findRedisServer } from '../services/redis.ts';
import type { Context } from './context.ts';

export interface NeedOptions {
  /** A real browser and docker-compose. */
  tests: boolean;
}

/** The usual names of Chromium's program. */
export const findChromium = (): string | undefined =>
  findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');

export async function hostNeeds(context: Context, options: NeedOptions): Promise<HostChange[]> {
  const { config, engine } = context;
  const changes: HostChange[] = [];
  const install = (name: string, why: string): number =>
    changes.push({ package: name, what: `install the package ${name}`, why });

  if (!config.redisUrl && !findRedisServer()) install('redis-server', 'a private Redis');
  if (!config.databaseUrl && isRoot() && !existingPostgresUser()) {
    changes.push({ what: 'add the system user gantry-postgres', why: 'Postgres refuses to run as root' });
  }
  const found = await findEngine(config.dockerSocket, engine);
  if (!found) {
    if (!dockerdIsHere()) install('docker.io', 'the engine that runs the sandboxes');
    changes.push({ what: `start a Docker engine in ${engine.root}`, why: 'none answers' });
  }
  const lacking = packagesOfMmdebstrap();
  if (lacking.length > 0 && (await imageMustBeMade(context, found?.api))) {
    for (const name of lacking) install(name, 'the base of the sandbox image: no container registry is reachable');
  }
  if (options.tests && !findChromium()) install('chromium', 'the tests of the page');
  if (options.tests && !findProgram('docker-compose')) install('docker-compose', 'the test of docker-compose.yml');
  return changes;
}

const isRoot = (): boolean => process.getuid?.() === 0;

type Docker = NonNullable<Awaited<ReturnType<typeof findEngine>>>['api'];

async function imageMustBeMade({ config, cacheDir }: Context, docker: Docker | undefined): Promise<boolean> {
  if (config.sandboxImage || config.sandboxBase) return false;
  const certificates = hostExtraCertificates(config.extraCaFile);
  const name = sandboxImageName({ cacheDir, base: undefined, certificates });
  if (docker && (await docker.hasImage(name))) return false;
  if (isCached(imageArchive(cacheDir, name)) || isCached(baseArchive(cacheDir))) return false;
  return !(await registryIsReachable());
}
