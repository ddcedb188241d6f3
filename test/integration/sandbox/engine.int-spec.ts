// The engine itself: what it is, that it sees our paths, and what is said when it does not answer.
import { chownSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#kernel';
import { testEnv } from '#testing';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture } from './docker-sandbox.fixture.js';

jest.setTimeout(60_000);

const fixture = new DockerSandboxFixture();
beforeAll(() => fixture.start());
afterAll(() => fixture.stop());

describe('the engine', () => {
  it('SBX-29 says what it is', async () => {
    const engine = await fixture.runtime.engine();
    expect(engine).toEqual(await fixture.createRuntime().engine());
    expect(engine.engineId.length).toBeGreaterThan(8);
    expect(engine.cpus).toBeGreaterThan(0);
    expect(engine.memoryBytes).toBeGreaterThan(1024 ** 3);
  });

  it('SBX-29 that is not there is unreachable, by every call', async () => {
    const runtime = fixture.createRuntime({ dockerSocket: join(fixture.root, 'no.sock') });
    const spec = fixture.spec();
    const calls = [
      runtime.engine(),
      runtime.list(),
      runtime.ensure(spec),
      runtime.stop(spec.sandboxId),
      runtime.remove(spec.sandboxId, { data: true }),
      runtime.connect(spec.sandboxId, { hostEpoch: 1 }),
      runtime.provePaths(spec.image),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'host.engine_unreachable' });
  });
});

describe('what the runtime logs', () => {
  it('OBS-20 of a sandbox that is made ready and removed has fields in snake_case', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = {
      info: (facts: Record<string, unknown>, message: string) => void lines.push({ message, ...facts }),
    };
    const runtime = fixture.createRuntime({ logger });
    const spec = fixture.spec();
    const { containerId } = await runtime.ensure(spec);
    await runtime.remove(spec.sandboxId, { data: true });
    const ids = { sandbox_id: spec.sandboxId, project_id: spec.projectId };
    expect(lines).toEqual([
      { message: 'sandbox ready', ...ids, container_id: containerId },
      { message: 'sandbox removed', sandbox_id: spec.sandboxId, data: true },
    ]);
  });
});

describe('the paths of the worker', () => {
  it('SBX-28 are proved when the engine shares them, and nothing stays behind', async () => {
    await fixture.runtime.provePaths(fixture.image);
    expect(await new DockerEngineProbe(fixture.instanceId).probes()).toEqual([]);
  });

  it('SBX-33 leave nothing of a proof whose worker was killed, and take nothing from one under way', async () => {
    const runRoot = join(fixture.dataDir, 'run');
    const probe = new DockerEngineProbe(fixture.instanceId);
    const left = await probe.leaveProbe(fixture.image);
    mkdirSync(join(runRoot, 'proof-left'), { recursive: true });
    mkdirSync(join(runRoot, 'other'));
    await fixture.runtime.removeLeftovers({ olderThanMs: 60_000 });
    expect(await probe.probes()).toEqual([left]);
    expect(readdirSync(runRoot)).toContain('proof-left');
    await fixture
      .createRuntime({ instanceId: newId(), dataDir: fixture.root })
      .removeLeftovers({ olderThanMs: -60_000 });
    expect(await probe.probes()).toEqual([left]);
    await fixture.runtime.removeLeftovers({ olderThanMs: -60_000 });
    expect(await probe.probes()).toEqual([]);
    expect(readdirSync(runRoot)).toContain('other');
    expect(readdirSync(runRoot)).not.toContain('proof-left');
  });

  it('SBX-28 are not shared when the engine sees another file system in their place', async () => {
    // A process whose data folder is mounted for itself alone, as a worker's in a container would be.
    const script = await fixture.bundleScript(`
      runtime.provePaths(image).then(() => console.log('proved'), (error) => console.log(error.code, JSON.stringify(error.details)));`);
    const alone = 'mount -t tmpfs none "$1" && exec "$2" "$3"';
    const { stdout } = await script.run('unshare', ['-m', 'sh', '-c', alone, 'sh', fixture.dataDir]);
    expect(stdout).toMatch(/^host\.paths_not_shared .*"remedy":/);
  });

  it('SBX-28 are not shared when a tool is not where the engine looks', async () => {
    const toolFiles = { ...fixture.toolFiles, node: fixture.copyTool(testEnv().toolFiles.node, 'node-copy') };
    const runtime = fixture.createRuntime({ toolFiles });
    await runtime.provePaths(fixture.image);
    rmSync(toolFiles.node);
    await expect(runtime.provePaths(fixture.image)).rejects.toMatchObject({
      code: 'host.paths_not_shared',
      details: { remedy: expect.any(String) as string },
    });
  });
});

describe('a worker that is not root', () => {
  it('SBX-27 reaches its sandboxes, and their jobs, although they are the same user, do not reach the socket', async () => {
    const spec = fixture.spec();
    const dockerGroup = statSync(testEnv().dockerSocket).gid;
    for (const folder of [fixture.root, fixture.dataDir]) chownSync(folder, 1000, 1000);
    rmSync(join(fixture.dataDir, 'run'), { recursive: true, force: true });
    const script = await fixture.bundleScript(`
      const spec = ${JSON.stringify(spec)};
      const run = async () => {
        await runtime.ensure(spec);
        const connection = await runtime.connect(spec.sandboxId, { hostEpoch: 1 });
        const argv = ['sh', '-c', 'id -u; ls /run/gantry/sock 2>&1; ls -ld /run/gantry'];
        await connection.start({ processId: 'p', argv, cwd: '/', env: {}, stdin: 'null', epoch: 1 });
        for await (const { data } of await connection.attach('p', { fromOffset: 0, epoch: 1 })) process.stdout.write(data);
        connection.close();
        await runtime.remove(spec.sandboxId, { data: true });
        console.log('worker', process.getuid());
      };
      run().catch((error) => console.log(error.code, error.cause));`);
    const ids = ['--reuid=1000', '--regid=1000', `--groups=${dockerGroup}`];
    const { stdout } = await script.run('setpriv', [...ids, 'sh', '-c', 'exec "$1" "$2"', 'sh']);
    expect(stdout).toMatch(/^1000\n.*Permission denied\ndrwx------ .* root root .*\nworker 1000\n$/);
  });
});
