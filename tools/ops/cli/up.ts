// `up` and `restart`: from whatever state the machine is in to a running Gantry, or from a running one to the same with new processes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildChanged, builtVersion } from '../build/build.ts';
import { checkout } from '../checkout.ts';
import { PortBook } from '../host/free-port.ts';
import { listening } from '../host/listening.ts';
import { keepSecret } from '../host/private-file.ts';
import { importSource } from '../import-source.ts';
import { instanceNote, noteInstance, readInstanceId } from '../instance.ts';
import { baseEnvironment, ownServices, type ServicePlan } from '../services/own-services.ts';
import { awaitReady, probeUrl, type Probe } from '../services/readiness.ts';
import { StepError } from '../step.ts';
import { supervisorOfRunning, type SupervisorClient } from '../supervisor/control-client.ts';
import type { ServiceSpec } from '../supervisor/service-spec.ts';
import type { Context } from './context.ts';
import { decideModel, modelInUse, rememberedModel, rememberModel, type ModelSource } from './model-source.ts';
import {
  prepareEngine,
  prepareHost,
  prepareImage,
  prepareStorage,
  prepareSupervisor,
  prepareTools,
  type StorageUrls,
} from './prepare.ts';

const DEMO_PORT = 7424;

/** What a user is told at the end. */
export interface Ready {
  url: string;
  token: string;
}

/** Brings everything up; what runs as it should is left alone (OPS-4). `restart`: Gantry's own services are started anew. */
export async function up(context: Context, options: { restart: boolean }): Promise<Ready> {
  const { steps, config, layout } = context;
  const model = await chooseModel(context, options);
  if (typeof model !== 'string') return model.left;
  await prepareHost(context, { tests: false });
  await steps.run('Build', buildChanged);
  const supervisor = await prepareSupervisor(context);
  const storage = await prepareStorage(context, supervisor, { durable: true });
  await migrateDatabase(context, storage);
  const engine = await prepareEngine(context);
  const sandboxImage = await prepareImage(context, engine);
  const tools = await prepareTools(context);
  const token = keepSecret(layout.adminToken, 'gnt_');
  const plan: ServicePlan = {
    layout,
    ...storage,
    dockerSocket: engine.api.socketPath,
    sandboxImage,
    tools,
    projectRoots: config.projectRoots,
    version: builtVersion('services'),
    ...(await choosePorts(context, supervisor, model)),
  };
  await startServices(context, supervisor, plan, { ...options, model });
  const url = config.gateway.publicUrl ?? probeUrl(config.gateway.host, plan.gateway.port, config.gateway.tls, '');
  noteInstance(layout, {
    instanceId: await readInstanceId(storage.databaseUrl),
    engineSocket: engine.api.socketPath,
    urls: { gateway: url, worker: probeUrl(plan.worker.host, plan.worker.port, false, '') },
    projectRoots: config.projectRoots,
  });
  return { url, token };
}

/** Where answers will come from; or what runs and is left as it is, because its key is not given now (OPS-34). */
async function chooseModel(
  { steps, config, layout }: Context,
  { restart }: { restart: boolean },
): Promise<ModelSource | { left: Ready }> {
  return steps.run('Model', async (say) => {
    const note = instanceNote(layout); // without one no start ever came to its end
    const supervisor = note && (await supervisorOfRunning(layout));
    const inUse = supervisor && modelInUse(await supervisor.status());
    const decision = decideModel({ ...config.model, remembered: rememberedModel(layout), inUse, restart });
    if ('use' in decision) return decision.use;
    say(
      `${decision.keep} is not set now, and the services run with the key that was given before: nothing was changed.\n` +
        '  To change something, give the key again; to use the demo model instead: GANTRY_DEMO_MODEL=1 make up',
    );
    return { left: { url: note?.urls.gateway ?? '', token: keepSecret(layout.adminToken, 'gnt_') } };
  });
}

async function migrateDatabase({ steps }: Context, { databaseUrl }: StorageUrls): Promise<void> {
  await steps.run('Migrations', async (say) => {
    const built = pathToFileURL(join(checkout, 'dist', 'libs', 'persistence', 'src', 'migrate.js')).href;
    const { migrate } = (await import(built)) as { migrate: (url: string, folder: string) => Promise<string[]> };
    try {
      const applied = await migrate(databaseUrl, join(checkout, 'prisma', 'migrations'));
      if (applied.length > 0) say(`applied ${applied.join(', ')}`);
    } catch (error) {
      throw new StepError(
        `A migration failed: ${error instanceof Error ? error.message : String(error)}`,
        'The database is as before that migration. Report it with this message.',
        error,
      );
    }
  });
}

async function choosePorts(
  { steps, config, layout }: Context,
  supervisor: SupervisorClient,
  model: ModelSource,
): Promise<Pick<ServicePlan, 'gateway' | 'worker' | 'demo'>> {
  return steps.run('Ports', async (say) => {
    const held = listening(await supervisor.status());
    const book = new PortBook(layout.ports);
    const choose = async (name: string, host: string, usual: number, fixed: boolean): Promise<number> => {
      const expected = fixed ? usual : (book.remembered(name) ?? usual);
      const port = await book.choose({ name, host, usual, fixed, held: held(name) });
      if (port === undefined) throw portTaken(name, usual, fixed);
      if (port !== expected) say(`${name} takes ${port}, because ${expected} is in use`);
      return port;
    };
    const { gateway, worker } = config;
    return {
      gateway: { host: gateway.host, port: await choose('gateway', gateway.host, gateway.port, gateway.portIsGiven) },
      worker: { host: worker.host, port: await choose('worker', worker.host, worker.port, worker.portIsGiven) },
      demo:
        model === 'demo'
          ? {
              port: await choose('demo-model', '127.0.0.1', DEMO_PORT, false),
              key: keepSecret(layout.demoModelKey, 'demo-'),
            }
          : undefined,
    };
  });
}

function portTaken(name: string, port: number, fixed: boolean): StepError {
  return fixed
    ? new StepError(`Port ${port} for the ${name} is in use.`, 'End what holds it, or set another port.')
    : new StepError(`No free port for the ${name} near ${port}.`, 'End what holds them.');
}

/** Services that `restart` starts anew. Their agents live on in the sandboxes. */
const RENEWED = ['gateway', 'worker', 'broker'];

async function startServices(
  { steps, config, layout, env }: Context,
  supervisor: SupervisorClient,
  plan: ServicePlan,
  { restart, model }: { restart: boolean; model: ModelSource },
): Promise<void> {
  await steps.run('Services', async (say) => {
    const { environmentFor } = await importSource<typeof import('#config')>('config');
    const specs = ownServices(plan, (program) => environmentFor(program, env), baseEnvironment(env));
    config.projectRoots.forEach((folder) => mkdirSync(folder, { recursive: true }));
    mkdirSync(join(layout.brokerSocket, '..'), { recursive: true, mode: 0o755 });
    const before = new Map((await supervisor.status()).map(({ name, pid }) => [name, pid]));
    rememberModel(layout, model);
    if (before.has('demo-model') && !plan.demo) {
      say(`answers come with ${model} from now on, no longer from the demo model`);
      await supervisor.remove('demo-model');
    }
    const after = await supervisor.apply(specs, restart ? RENEWED : []);
    const started = after.filter(({ name, pid }) => pid !== before.get(name)).map(({ name }) => name);
    if (started.length > 0) say(`starting ${started.join(', ')}`);
    if (plan.demo && started.includes('demo-model')) {
      say('no ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN is used: answers come from the demo model, at no cost');
    }
    await awaitAll(supervisor, specs, plan, config.gateway.tls);
  });
}

async function awaitAll(
  supervisor: SupervisorClient,
  specs: readonly ServiceSpec[],
  { layout, gateway, worker, demo }: ServicePlan,
  tls: boolean,
): Promise<void> {
  const targets: Record<string, Probe['target']> = {
    gateway: { url: probeUrl(gateway.host, gateway.port, tls) },
    worker: { url: probeUrl(worker.host, worker.port, false) },
    broker: { socketPath: layout.brokerSocket, path: '/healthz' },
    ...(demo ? { 'demo-model': { url: probeUrl('127.0.0.1', demo.port, false, '/') } } : {}),
  };
  await Promise.all(
    specs.map(({ name }) => {
      const target = targets[name];
      if (!target) throw new Error(`no probe for ${name}`);
      const status = async () => (await supervisor.status()).find((candidate) => candidate.name === name);
      const logFile = join(layout.logs, `${name}.log`);
      return awaitReady({ service: name, logFile, target, anyAnswer: name === 'demo-model' }, status);
    }),
  );
}
