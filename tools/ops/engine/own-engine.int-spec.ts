// An engine of our own, beside the machine's: started, killed, started again, filled from the cache, and stopped only when nobody needs it.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../cli/context.ts';
import { hostExtraCertificates } from '../host/extra-certificates.ts';
import { poll } from '../host/poll.ts';
import { isAlive, signalProcess, type ProcessIdentity } from '../host/process-identity.ts';
import { runCommand } from '../host/run-command.ts';
import { DockerApi } from './docker-api.ts';
import {
  engineFolders,
  findEngine,
  noteEngineUser,
  startOwnEngine,
  stopEngineIfUnused,
  type EngineFolders,
} from './docker-engine.ts';
import { ensureSandboxImage } from './sandbox-image.ts';

/** Starting an engine and loading an image into it, on a busy machine. */
const TIMEOUT_MS = 180_000;
const nobody = async (): Promise<boolean> => false;
const everybody = async (): Promise<boolean> => true;

let root: string;
let folders: EngineFolders;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-engine-'));
  chmodSync(root, 0o711);
  folders = engineFolders(join(root, 'engine'));
});
afterEach(async () => {
  const api = new DockerApi(join(folders.exec, 'docker.sock'));
  if (await api.version()) for (const { Id } of await api.containers()) await api.removeContainer(Id);
  await stopEngineIfUnused(folders, root, nobody);
  // A killed engine leaves its data folder mounted on itself, and the next one leaves it to the first.
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(root))) await runCommand('umount', [mount]);
  rmSync(folders.exec, { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true });
});

const engineProcess = (): ProcessIdentity =>
  JSON.parse(readFileSync(join(folders.root, 'engine.json'), 'utf8')) as ProcessIdentity;

it(
  'OPS-10, OPS-13 serves, survives a hard end, and is stopped only when nothing needs it',
  async () => {
    const said: string[] = [];
    const say = (what: string): number => said.push(what);
    const { api } = await startOwnEngine(folders, say);
    noteEngineUser(folders, root);
    expect(await findEngine(api.socketPath, folders)).toMatchObject({ own: true });

    // OPS-13: an engine without the image loads it from the cache that the test environment filled.
    const certificates = hostExtraCertificates(process.env['NODE_EXTRA_CA_CERTS']);
    const inputs = { cacheDir: defaultCacheDir(process.env), base: undefined, certificates };
    const image = await ensureSandboxImage(api, inputs, say);
    expect(said.filter((what) => what.startsWith('building'))).toEqual([]);
    expect(said).toContain('loading the image from the cache');

    // A container that is nobody's of ours goes on when the engine is killed (live-restore), and keeps the engine from being stopped.
    const docker = (...args: string[]): Promise<string> =>
      runCommand('docker', ['-H', `unix://${api.socketPath}`, ...args]);
    const foreign = (await docker('run', '-d', '--network', 'none', image, 'sleep', '600')).trim();
    const pid = (await docker('inspect', '-f', '{{.State.Pid}}', foreign)).trim();
    const first = engineProcess();
    signalProcess(first, 'SIGKILL');
    await poll(10_000, () => !isAlive(first));
    await startOwnEngine(folders, say);
    expect((await docker('inspect', '-f', '{{.State.Pid}}', foreign)).trim()).toBe(pid);
    expect(await stopEngineIfUnused(folders, root, nobody)).toBe('containers_running');
    expect(await api.version()).toBeDefined();

    await api.removeContainer(foreign);
    noteEngineUser(folders, '/another/installation');
    expect(await stopEngineIfUnused(folders, root, everybody)).toBe('used_by_others');
    expect(await stopEngineIfUnused(folders, root, nobody)).toBe('stopped');
    expect(await api.version()).toBeUndefined();
    expect(await stopEngineIfUnused(folders, root, nobody)).toBe('not_running');
  },
  TIMEOUT_MS,
);

it('OPS-10 an engine that is named must answer, and none is started in its place', async () => {
  await expect(findEngine(join(root, 'no.sock'), folders)).rejects.toThrow('No Docker engine answers');
});
