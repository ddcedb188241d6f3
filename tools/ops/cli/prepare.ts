// The steps that every command which starts something shares: the machine, storage, engine, image and tools.
import { noteEngineUser, findEngine, startOwnEngine, type FoundEngine } from '../engine/docker-engine.ts';
import { ensureSandboxImage } from '../engine/sandbox-image.ts';
import { cachedClaude, layOutTools, packagedNode, type ToolFiles } from '../engine/tool-cache.ts';
import { SANDBOXD_BUNDLE } from '../build/bundle-sandboxd.ts';
import { askOnce, describeChanges, terminal, type HostChange } from '../host/consent.ts';
import { hostExtraCertificates } from '../host/extra-certificates.ts';
import { PortBook } from '../host/free-port.ts';
import { listening } from '../host/listening.ts';
import { installByHand, installPackages } from '../host/packages.ts';
import { existingPostgresUser, makePostgresUser, type SystemUser } from '../host/system-user.ts';
import { prepareDataFolder } from '../data-layout.ts';
import { awaitPostgres, checkGivenPostgres, preparePostgres } from '../services/postgres.ts';
import { awaitRedis, checkGivenRedis, findRedisServer, prepareRedis } from '../services/redis.ts';
import { StepError, type Say } from '../step.ts';
import { ensureSupervisor, type SupervisorClient } from '../supervisor/control-client.ts';
import type { Context } from './context.ts';
import { hostNeeds, type NeedOptions } from './host-needs.ts';

const POSTGRES_PORT = 7422;
const REDIS_PORT = 7423;

/** Refuses systems that cannot work, asks once for what must change on the machine, and changes it. */
export async function prepareHost(context: Context, needs: NeedOptions): Promise<void> {
  await context.steps.run('Machine', async (say) => {
    prepareDataFolder(context.layout);
    const changes = await hostNeeds(context, needs);
    const packages = changes.flatMap((change) => change.package ?? []);
    if (changes.length > 0 && process.getuid?.() !== 0) throw needsRoot(changes, packages);
    await askOnce(changes, terminal(context.assumeYes));
    if (packages.length > 0) await installPackages(packages, say);
  });
}

/** sandboxd is root inside without the right to pass over permissions, so its folders on the host must be root's (R13, R21). */
export async function requireRoot({ steps }: Context): Promise<void> {
  await steps.run('Machine', () => {
    if (process.getuid?.() === 0) return;
    throw new StepError(
      'The worker must be root: the supervisor inside a sandbox works in folders that only root may own.',
      'Run it with sudo, or use docker-compose.yml as a member of the group docker.',
    );
  });
}

function needsRoot(changes: readonly HostChange[], packages: readonly string[]): StepError {
  const byHand = packages.length > 0 ? `${installByHand(packages)}\n` : '';
  return new StepError(
    `This needs root, and you are not:\n${describeChanges(changes)}`,
    `${byHand}An engine of the system will do: start it, and add yourself to the group docker. Or run it once with sudo.`,
  );
}

export interface StorageUrls {
  databaseUrl: string;
  redisUrl: string;
}

/** Postgres and Redis: the user's, or our own under the supervisor. Both answer when this resolves. */
export async function prepareStorage(
  context: Context,
  supervisor: SupervisorClient,
  options: { durable: boolean },
): Promise<StorageUrls> {
  const { config, steps } = context;
  const ports = new PortBook(context.layout.ports);
  const statuses = await supervisor.status();
  const running = new Set(statuses.flatMap(({ name, state }) => (state === 'running' ? [name] : [])));
  const start = { context, supervisor, ports, running, held: listening(statuses) };
  const [givenRedis, givenDatabase] = [config.redisUrl?.reveal(), config.databaseUrl?.reveal()];
  const redisUrl = await steps.run('Redis', (say) =>
    givenRedis === undefined ? startRedis(start, say) : checkGivenRedis(givenRedis, say),
  );
  const databaseUrl = await steps.run('Postgres', (say) =>
    givenDatabase === undefined ? startPostgres(start, options.durable, say) : checkGivenPostgres(givenDatabase),
  );
  return { databaseUrl, redisUrl };
}

interface StorageStart {
  context: Context;
  supervisor: SupervisorClient;
  ports: PortBook;
  running: ReadonlySet<string>;
  held: ReturnType<typeof listening>;
}

async function portFor({ ports, held }: StorageStart, name: string, usual: number, say: Say): Promise<number> {
  const expected = ports.remembered(name) ?? usual;
  const port = await ports.choose({ name, host: '127.0.0.1', usual, held: held(name) });
  if (port === undefined) throw new StepError(`No free port for ${name} near ${usual}.`, 'End what holds them.');
  if (port !== expected) say(`taking port ${port}, because ${expected} is in use`);
  return port;
}

async function startRedis(start: StorageStart, say: Say): Promise<string> {
  const { layout } = start.context;
  const program = findRedisServer();
  if (!program) throw new StepError('redis-server is not installed.', 'Install it, or set REDIS_URL.');
  const port = await portFor(start, 'redis', REDIS_PORT, say);
  const { spec, url } = prepareRedis(layout, program, port);
  if (!start.running.has('redis')) say(`starting on 127.0.0.1:${port}`);
  await start.supervisor.apply([spec]);
  await awaitRedis(url, `${layout.logs}/redis.log`);
  return url;
}

async function startPostgres(start: StorageStart, durable: boolean, say: Say): Promise<string> {
  const { layout, config } = start.context;
  const port = await portFor(start, 'postgres', POSTGRES_PORT, say);
  const user = await postgresUser();
  const wishedFolder = config.postgresDir ?? layout.postgres;
  const { spec, url } = await preparePostgres({ layout, port, user, wishedFolder, durable }, say);
  if (!start.running.has('postgres')) say(`starting on 127.0.0.1:${port}`);
  await start.supervisor.apply([spec]);
  await awaitPostgres(url, `${layout.logs}/postgres.log`);
  return url;
}

/** Only root needs another user: Postgres refuses it. */
async function postgresUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return existingPostgresUser() ?? makePostgresUser();
}

export async function prepareSupervisor(context: Context): Promise<SupervisorClient> {
  return context.steps.run('Supervisor', async () => {
    const supervisor = await ensureSupervisor(context.layout);
    await supervisor.limitLogs(context.config.logs);
    return supervisor;
  });
}

export async function prepareEngine(context: Context): Promise<FoundEngine> {
  return context.steps.run('Docker engine', async (say) => {
    const found = await findEngine(context.config.dockerSocket, context.engine);
    const engine = found ?? (await startOwnEngine(context.engine, say));
    if (engine.own) noteEngineUser(context.engine, context.layout.root);
    return engine;
  });
}

export async function prepareImage(context: Context, { api }: FoundEngine): Promise<string> {
  return context.steps.run('Sandbox image', async (say) => {
    const { config, cacheDir } = context;
    if (config.sandboxImage) return config.sandboxImage;
    const certificates = hostExtraCertificates(config.extraCaFile);
    return ensureSandboxImage(api, { cacheDir, base: config.sandboxBase, certificates }, say);
  });
}

/** node, claude and the built sandboxd, where sandboxes mount them from. */
export async function prepareTools(context: Context): Promise<ToolFiles> {
  return context.steps.run('Sandbox tools', async (say) => {
    const claude = await cachedClaude(context.cacheDir, say);
    const sources = { node: packagedNode(), claude, sandboxd: SANDBOXD_BUNDLE };
    return layOutTools(context.layout.tools, context.cacheDir, sources);
  });
}
