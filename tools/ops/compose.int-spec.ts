// docker-compose.yml: valid, well-mannered, and its service image runs on our own base, the worker's paths shared with the engine's host.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createTestDatabase, SocketClient, startRedisProcess, testEnv } from '#testing';
import { checkout } from './checkout.ts';
import { defaultCacheDir } from './cli/context.ts';
import { shortHash } from './data-layout.ts';
import { DockerApi } from './engine/docker-api.ts';
import { poll } from './host/poll.ts';
import { instanceLabel, readInstanceId } from './instance.ts';
import { ask } from './services/readiness.ts';
import { ensureProxyImage, ensureServiceImage, SERVICE_TEST_LABEL } from './testing/service-image.ts';

interface ComposeService {
  image: string;
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  privileged?: boolean;
  depends_on?: unknown;
  networks?: unknown;
  network_mode?: string;
  restart?: string;
  logging?: { options?: Record<string, string> };
  profiles?: string[];
}
interface ComposeFile {
  services: Record<string, ComposeService>;
  networks?: unknown;
}

/** Building it the first time downloads every npm package twice, and claude. */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const GIVEN = { POSTGRES_PASSWORD: 'hunter2', ANTHROPIC_API_KEY: 'sk-model-key', CLAUDE_CODE_OAUTH_TOKEN: 'oauth-key' };

function compose(
  args: string[],
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const base = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DOCKER_HOST: `unix://${testEnv().dockerSocket}`,
  };
  return spawnSync('docker-compose', args, { cwd: checkout, encoding: 'utf8', env: { ...base, ...env } });
}

function configured(): ComposeFile {
  const { status, stdout, stderr } = compose(['config'], GIVEN);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return parse(stdout) as ComposeFile;
}

const servicesWith = (text: string): string[] =>
  Object.entries(configured().services).flatMap(([name, service]) =>
    JSON.stringify(service).includes(text) ? [name] : [],
  );

describe('docker-compose.yml', () => {
  it('OPS-26 names every part, and asks for the password that it needs', () => {
    const names = ['broker', 'gateway', 'migrate', 'postgres', 'redis', 'sandbox-image', 'worker'];
    const { services } = configured();
    const plain = Object.keys(services).filter((name) => services[name]?.profiles === undefined);
    expect(plain.sort()).toEqual(names);
    const { status, stderr } = compose(['config']);
    expect(status).not.toBe(0);
    expect(stderr).toContain('POSTGRES_PASSWORD');
  });

  it('OPS-36 adds a second gateway, a proxy and a standby worker with the profile scale, and nothing else', () => {
    const { services } = configured();
    const scaled = Object.keys(services).filter((name) => services[name]?.profiles !== undefined);
    expect(scaled.sort()).toEqual(['gateway-2', 'proxy', 'worker-standby']);
    expect(scaled.map((name) => services[name]?.profiles)).toEqual([['scale'], ['scale'], ['scale']]);
    expect(services['gateway-2']?.environment).toEqual(services['gateway']?.environment);
    expect(services['worker-standby']?.environment).toEqual(services['worker']?.environment);
  });

  it('OPS-26 publishes the gateway, or the proxy before gateways, on loopback and nothing else', () => {
    const ports = Object.entries(configured().services).flatMap(([name, { ports: own = [] }]) =>
      own.map((port) => [name, port]),
    );
    expect(ports).toEqual([
      ['gateway', expect.stringMatching(/^127\.0\.0\.1:7420:7420/)],
      ['proxy', expect.stringMatching(/^127\.0\.0\.1:7480:7480/)],
    ]);
  });

  it('OPS-26 bounds the log of every part that goes on running', () => {
    const unbounded = Object.entries(configured().services).flatMap(([name, { logging, restart }]) =>
      restart === 'unless-stopped' && logging?.options?.['max-size'] === undefined ? [name] : [],
    );
    expect(unbounded).toEqual([]);
  });

  it('OPS-26 gives model keys to the broker alone, and the engine to the worker alone', () => {
    expect(servicesWith('sk-model-key')).toEqual(['broker']);
    expect(servicesWith('oauth-key')).toEqual(['broker']);
    expect(servicesWith('/var/run/docker.sock')).toEqual(['worker', 'worker-standby']);
    expect(servicesWith('"privileged":true')).toEqual([]);
  });
});

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

/** What stands in for the compose network: every service finds the others on loopback. */
interface HostNetwork {
  images: { service: string; proxy?: string };
  environment: Record<string, string>;
  /** More for one service. */
  own: Record<string, Record<string, string>>;
}

const NOT_OURS = ['postgres', 'redis', 'sandbox-image'];

/** The same services on the host's network, because the images of Postgres and Redis come from a registry that may not be there. */
function onHostNetwork(file: ComposeFile, { images, environment, own }: HostNetwork): ComposeFile {
  const services = Object.entries(file.services).flatMap(([name, service]): [string, ComposeService][] => {
    const image = name === 'proxy' ? images.proxy : images.service;
    if (NOT_OURS.includes(name) || image === undefined) return [];
    const { ports: _ports, networks: _networks, depends_on: _dependsOn, profiles: _profiles, ...kept } = service;
    return [
      [
        name,
        {
          ...kept,
          image,
          restart: 'no',
          network_mode: 'host',
          volumes: kept.volumes?.map((volume) =>
            volume.replace(/^\/var\/run\/docker\.sock:/, `${testEnv().dockerSocket}:`),
          ),
          environment: { ...service.environment, ...environment, ...own[name] },
        },
      ],
    ];
  });
  return { ...file, services: Object.fromEntries(services), networks: {} };
}

describe('the service image', () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  /** A migrated database, a Redis, a folder; and the compose file on the host's network with them. */
  async function installation(images: HostNetwork['images']) {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-compose-'));
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const database = await createTestDatabase();
    undo.push(() => database.close());
    const redis = await startRedisProcess();
    undo.push(() => redis.close());
    const ports = {
      gateway: await freePort(),
      worker: await freePort(),
      gateway2: await freePort(),
      standby: await freePort(),
      proxy: await freePort(),
    };
    const file = join(folder, 'docker-compose.yml');
    const project = ['-p', `gantry-${shortHash(folder)}`, '-f', file];
    const given = { ...GIVEN, CLAUDE_CODE_OAUTH_TOKEN: '', GANTRY_DATA_DIR: join(folder, 'data') };
    const settings = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(ports.gateway),
      WORKER_PORT: String(ports.worker),
      SANDBOX_IMAGE: testEnv().sandboxImage,
    };
    const own = {
      'gateway-2': { GATEWAY_PORT: String(ports.gateway2) },
      'worker-standby': { WORKER_PORT: String(ports.standby) },
      proxy: {
        PROXY_LISTEN: `127.0.0.1:${ports.proxy}`,
        PROXY_GATEWAY_1: `127.0.0.1:${ports.gateway}`,
        PROXY_GATEWAY_2: `127.0.0.1:${ports.gateway2}`,
      },
    };
    const plain = parse(compose(['config'], given).stdout) as ComposeFile;
    writeFileSync(file, JSON.stringify(onHostNetwork(plain, { images, environment: settings, own })));
    undo.push(() => compose([...project, 'down', '-v', '-t', '20']));
    const migrated = compose([...project, 'run', '--rm', 'migrate']);
    expect(migrated.stdout + migrated.stderr).toContain('made the sign-in token');
    return { project, ports, folder, database, brokerSocket: join(folder, 'data', 'broker', 'broker.sock') };
  }

  type Installation = Awaited<ReturnType<typeof installation>>;

  async function start({ project, database }: Installation, services: string[], docker: DockerApi): Promise<void> {
    const started = compose([...project, 'up', '-d', ...services]);
    expect(started.status === 0 ? '' : started.stderr).toBe('');
    undo.push(() => removeSandboxes(docker, database.url));
  }

  async function expectReady({ project }: Installation, probes: Parameters<typeof ask>[0][]): Promise<void> {
    const ready = await poll(180_000, async () => (await Promise.all(probes.map(answers))).every(Boolean));
    expect(ready ? '' : compose([...project, 'logs', '--no-color']).stdout).toBe('');
  }

  const answers = (target: Parameters<typeof ask>[0]): Promise<boolean> =>
    ask(target).then(
      ({ status }) => status === 200,
      () => false, // not listening yet
    );

  it(
    'OPS-26 builds on our own base, and its services get ready in containers',
    async () => {
      const docker = new DockerApi(testEnv().dockerSocket);
      const image = await ensureServiceImage(docker, defaultCacheDir(process.env));
      // One that a container uses cannot go: a run that was killed may have left some.
      const used = new Set((await docker.containers()).map(({ ImageID }) => ImageID));
      const dangling = await docker.danglingImages(SERVICE_TEST_LABEL);
      expect(dangling.filter((id) => !used.has(id))).toEqual([]);
      const here = await installation({ service: image });
      await start(here, ['gateway', 'worker', 'broker'], docker);
      await expectReady(here, [
        { url: `http://127.0.0.1:${here.ports.gateway}/readyz` },
        { url: `http://127.0.0.1:${here.ports.worker}/readyz` },
        { socketPath: here.brokerSocket, path: '/healthz' },
      ]);
    },
    BUILD_TIMEOUT_MS,
  );

  it(
    'OPS-36 goes on behind its proxy when a gateway and a worker are killed',
    async () => {
      const docker = new DockerApi(testEnv().dockerSocket);
      const images = {
        service: await ensureServiceImage(docker, defaultCacheDir(process.env)),
        proxy: await ensureProxyImage(docker, defaultCacheDir(process.env)),
      };
      const here = await installation(images);
      const url = `http://127.0.0.1:${here.ports.proxy}`;
      await start(here, ['gateway', 'gateway-2', 'worker', 'broker', 'proxy'], docker);
      await expectReady(here, [
        { url: `http://127.0.0.1:${here.ports.gateway}/readyz` },
        { url: `http://127.0.0.1:${here.ports.gateway2}/readyz` },
        { url: `${url}/readyz` },
        { socketPath: here.brokerSocket, path: '/healthz' },
      ]);
      // After the other one, which has the engine by now.
      await start(here, ['worker-standby'], docker);
      await expectReady(here, [{ url: `http://127.0.0.1:${here.ports.standby}/readyz` }]);
      const token = compose([...here.project, 'run', '--rm', '-T', 'migrate', 'cat', '/run/gantry/admin-token']).stdout;
      const path = join(here.folder, 'data', 'projects', 'scaled');
      const before = await scaledCommand(url, token.trim(), path, 'echo before');
      compose([...here.project, 'kill', '-s', 'SIGKILL', 'gateway', 'worker']);
      expect(before).toBe('before\n');
      expect(await scaledCommand(url, token.trim(), path, 'echo after')).toBe('after\n');
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Runs a command through the proxy with a client of its own, which connects again when it is cut off. */
async function scaledCommand(url: string, token: string, path: string, command: string): Promise<string> {
  const client = await poll(30_000, () => SocketClient.connect(url, { token }).catch(() => undefined));
  if (!client) throw new Error('no gateway answers behind the proxy');
  try {
    const { projects } = await client.call('project_list', {});
    const known = projects.find((project) => project.path === path);
    const { project_id } = known ?? (await client.call('project_create', { path }));
    await client.call('project_join', { project_id });
    const { run_id, command_session_id } = await client.call('execute_command', { project_id, command });
    await client.waitFor('event', (event) => event.run_id === run_id && event.type === 'run.finished', 60_000);
    return (await client.call('get_command_output', { command_session_id })).output;
  } finally {
    client.close();
  }
}

async function removeSandboxes(docker: DockerApi, databaseUrl: string): Promise<void> {
  const label = instanceLabel(await readInstanceId(databaseUrl));
  for (const { Id } of await docker.containers({ label })) await docker.removeContainer(Id);
  for (const volume of await docker.volumes(label)) await docker.removeVolume(volume);
}
