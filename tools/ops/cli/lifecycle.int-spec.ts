// Installations from `up` to `reset`, by the command line alone, with the real services: what a user does in a day.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SocketClient, testEnv, until } from '#testing';
import { checkout } from '../checkout.ts';
import { dataLayout } from '../data-layout.ts';
import { DockerApi } from '../engine/docker-api.ts';
import { identify, isAlive, signalProcess } from '../host/process-identity.ts';
import { instanceLabel, instanceNote } from '../instance.ts';
import { SupervisorClient } from '../supervisor/control-client.ts';

const NOBODY = 65_534;
const TIMEOUT_MS = 240_000;
const READY = /(^|\n)ready (http:\/\/127\.0\.0\.1:\d+) (gnt_[\w-]{43})\n$/;

let folder: string;
const dataDirs = (): string[] => ['first', 'second'].map((name) => join(folder, name));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-lifecycle-'));
  chmodSync(folder, 0o711); // Postgres' user must get through
});
afterEach(async () => {
  for (const dataDir of dataDirs()) await gantry(dataDir, 'reset', '--yes');
  rmSync(folder, { recursive: true });
});

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const gantry = (dataDir: string, ...args: string[]): Promise<Outcome> => gantryWith({}, dataDir, ...args);

async function gantryWith(given: Record<string, string>, dataDir: string, ...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [join(checkout, 'tools', 'bootstrap.mjs'), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GANTRY_DATA_DIR: dataDir, ...given },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outcome = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (outcome.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.stderr += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...outcome };
}

async function up(dataDir: string): Promise<{ url: string; token: string; stderr: string }> {
  const { code, stdout, stderr } = await gantry(dataDir, 'up');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const [, , url = '', token = ''] = READY.exec(stdout) ?? [];
  expect(stdout).toBe(`ready ${url} ${token}\n`);
  return { url, token, stderr };
}

/** Containers and volumes of the instance in `dataDir`. */
async function inEngine(label: string): Promise<{ running: number; containers: number; volumes: number }> {
  const docker = new DockerApi(testEnv().dockerSocket);
  const [all, running, volumes] = [
    await docker.containers({ label }),
    await docker.containers({ label, running: true }),
    await docker.volumes(label),
  ];
  return { containers: all.length, running: running.length, volumes: volumes.length };
}

const labelOf = (dataDir: string): string => instanceLabel(instanceNote(dataLayout(dataDir))?.instanceId ?? 'none');

/** A project with one prompt at work: an answer of `words` words, 50 ms each. */
async function busyProject(client: SocketClient, path: string, words: number) {
  const { project_id } = await client.call('project_create', { path });
  await client.call('project_join', { project_id });
  const { run_id } = await client.call('execute', { project_id, prompt: `demo:slow ${words} 50` });
  await client.waitFor('delta', (delta) => delta.run_id === run_id, 60_000);
  return { project_id, run_id };
}

async function killSupervisor(dataDir: string): Promise<void> {
  const supervisor = new SupervisorClient(dataLayout(dataDir).supervisorSocket);
  const identity = identify((await supervisor.info())?.pid ?? 0);
  if (!identity) throw new Error('no supervisor');
  signalProcess(identity, 'SIGKILL');
  await until('the end of the supervisor', () => !isAlive(identity));
}

const statusOf = async (
  client: SocketClient,
  run: { project_id: string; run_id: string },
): Promise<string | undefined> =>
  (await client.call('run_list', { project_id: run.project_id })).runs.find(({ run_id }) => run_id === run.run_id)
    ?.status;

it(
  'OPS-1 up is ready, changes nothing the second time, and heals what dies',
  async () => {
    const [dataDir = ''] = dataDirs();
    const first = await up(dataDir);
    expect(statSync(join(dataDir, 'secrets', 'admin-token')).mode & 0o777).toBe(0o600);
    const supervisor = new SupervisorClient(dataLayout(dataDir).supervisorSocket);
    const before = await supervisor.status();
    expect(await up(dataDir)).toEqual({ ...first, stderr: '' });
    expect(await supervisor.status()).toEqual(before);

    const gateway = before.find(({ name }) => name === 'gateway');
    const identity = identify(gateway?.pid ?? 0);
    if (!identity) throw new Error('no gateway');
    signalProcess(identity, 'SIGKILL');
    const client = await until('a new gateway', () =>
      SocketClient.connect(first.url, { token: first.token }).catch(() => undefined),
    );
    client.close();
    const { code, stdout } = await gantry(dataDir, 'status');
    expect({ code, gateway: /^gateway\s+running\s+\d+\s+\S+\s+1 /m.test(stdout) }).toEqual({ code: 0, gateway: true });
  },
  TIMEOUT_MS,
);

it('OPS-31 who is not root is told so, and nothing is started', () => {
  const [dataDir = ''] = dataDirs();
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'gantry.ts'), 'up'], {
    encoding: 'utf8',
    uid: NOBODY,
    gid: NOBODY,
    env: { PATH: process.env['PATH'], HOME: folder, GANTRY_DATA_DIR: dataDir },
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/must be root[^]*Next: {3}Run it with sudo/);
  expect(existsSync(dataDir)).toBe(false);
});

it(
  'OPS-1, OPS-28, OPS-32 restart keeps agents alive, down ends live runs as interrupted, and both are there again after up',
  async () => {
    const [dataDir = ''] = dataDirs();
    const { url, token } = await up(dataDir);
    const client = await SocketClient.connect(url, { token });
    const kept = await busyProject(client, join(dataDir, 'projects', 'kept'), 200);
    await killSupervisor(dataDir); // restart and down begin with a new one
    const restarted = await gantry(dataDir, 'restart');
    expect({ code: restarted.code, last: READY.test(restarted.stdout) }).toEqual({ code: 0, last: true });
    client.close();

    const again = await SocketClient.connect(url, { token });
    await until('the end of the run', async () => (await statusOf(again, kept)) === 'succeeded', 60_000);
    const lost = await busyProject(again, join(dataDir, 'projects', 'lost'), 5_000);
    again.close();
    await killSupervisor(dataDir);
    expect(await gantry(dataDir, 'down')).toMatchObject({ code: 0 });
    expect((await inEngine(labelOf(dataDir))).running).toBe(0);
    expect(await gantry(dataDir, 'status')).toMatchObject({ code: 1 });

    await up(dataDir);
    const last = await SocketClient.connect(url, { token });
    expect([await statusOf(last, kept), await statusOf(last, lost)]).toEqual(['succeeded', 'interrupted']);
    last.close();
  },
  TIMEOUT_MS,
);

it(
  'OPS-34, OPS-35 a start without the key never switches to the demo model, unless asked to',
  async () => {
    const [dataDir = ''] = dataDirs();
    const supervisor = new SupervisorClient(dataLayout(dataDir).supervisorSocket);
    const key = { ANTHROPIC_API_KEY: 'sk-ant-kept-out-of-files' };
    const names = async (): Promise<string[]> => (await supervisor.status()).map(({ name }) => name).sort();
    await up(dataDir);
    const withKey = await gantryWith(key, dataDir, 'up');
    expect(withKey).toMatchObject({ code: 0, stdout: expect.stringMatching(READY) as string });
    expect(await names()).toEqual(['broker', 'gateway', 'postgres', 'redis', 'worker']);
    expect((await gantry(dataDir, 'status')).code).toBe(0);

    const before = await supervisor.status();
    const plain = await gantry(dataDir, 'up');
    expect(plain).toMatchObject({ code: 0, stdout: withKey.stdout });
    expect(plain.stderr).toContain('ANTHROPIC_API_KEY is not set now');
    const restarted = await gantry(dataDir, 'restart');
    expect(restarted).toMatchObject({ code: 1, stdout: '' });
    expect(restarted.stderr).toContain('GANTRY_DEMO_MODEL=1 make restart');
    expect(await supervisor.status()).toEqual(before);

    await gantry(dataDir, 'down');
    const refused = await gantry(dataDir, 'up');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('GANTRY_DEMO_MODEL=1 make up');
    expect(await supervisor.info()).toBeUndefined();
    expect(spawnSync('grep', ['-rlF', key.ANTHROPIC_API_KEY, dataDir], { encoding: 'utf8' }).stdout).toBe('');

    const demo = await gantryWith({ GANTRY_DEMO_MODEL: '1' }, dataDir, 'up');
    expect(demo).toMatchObject({ code: 0, stdout: withKey.stdout });
    expect(await names()).toContain('demo-model');
    expect((await gantry(dataDir, 'up')).code).toBe(0); // remembered
  },
  TIMEOUT_MS,
);

it(
  'OPS-18, OPS-19 reset wants --yes, deletes everything of its own but the users’ work, and nothing of the installation beside it',
  async () => {
    const [first = '', second = ''] = dataDirs();
    const installations = [await up(first), await up(second)];
    expect(new Set(installations.map(({ url }) => url)).size).toBe(2);
    expect(new Set(installations.map(({ token }) => token)).size).toBe(2);
    for (const [index, { url, token }] of installations.entries()) {
      const client = await SocketClient.connect(url, { token });
      await busyProject(client, join(dataDirs()[index] ?? '', 'projects', 'one'), 5);
      client.close();
    }
    const labels = [labelOf(first), labelOf(second)] as const;

    const refused = await gantry(first, 'reset');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('make reset YES=1') as string });
    expect(await gantry(first, 'status')).toMatchObject({ code: 0 });

    const work = join(first, 'projects', 'one', 'work.txt');
    writeFileSync(work, 'mine');
    const done = await gantry(first, 'reset', '--yes');
    const said = `kept ${join(first, 'projects')}: your project folders; `;
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(said) as string });
    expect([readdirSync(first), readFileSync(work, 'utf8')]).toEqual([['projects'], 'mine']);
    expect(await inEngine(labels[0])).toEqual({ containers: 0, running: 0, volumes: 0 });
    expect(await gantry(second, 'status')).toMatchObject({ code: 0 });
    expect(await inEngine(labels[1])).toMatchObject({ running: 1 });

    const again = await up(first);
    const client = await SocketClient.connect(again.url, { token: again.token });
    await busyProject(client, join(first, 'projects', 'one'), 5);
    client.close();
    expect(readFileSync(work, 'utf8')).toBe('mine');
  },
  TIMEOUT_MS,
);
