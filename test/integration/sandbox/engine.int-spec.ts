// The engine itself: what it is, that it sees our paths, and what is said when it does not answer.
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { newId } from '#kernel';
import { testEnv } from '#testing';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture } from './docker-sandbox.fixture.js';

jest.setTimeout(60_000);

const run = promisify(execFile);
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

describe('the paths of the worker', () => {
  it('SBX-28 are proved when the engine shares them, and nothing stays behind', async () => {
    await fixture.runtime.provePaths(fixture.image);
    expect(await new DockerEngineProbe(fixture.instanceId).probes()).toEqual([]);
  });

  it('SBX-28 are not shared when the engine sees another file system in their place', async () => {
    // A process whose data folder is mounted for itself alone, as a worker's in a container would be.
    const script = join(fixture.root, 'prove.cjs');
    const entry = join(fixture.root, 'prove.ts');
    const options = {
      dockerSocket: testEnv().dockerSocket,
      instanceId: newId(),
      dataDir: fixture.dataDir,
      toolFiles: fixture.toolFiles,
      brokerSocketDir: fixture.brokerSocketDir,
    };
    writeFileSync(
      entry,
      `import { createDockerSandboxRuntime } from '${process.cwd()}/libs/sandbox/src/docker/index.ts';
       createDockerSandboxRuntime(${JSON.stringify(options)}).provePaths('${fixture.image}').then(
         () => console.log('proved'), (error) => console.log(error.code, JSON.stringify(error.details)));`,
    );
    await build({
      ...{
        entryPoints: [entry],
        outfile: script,
        bundle: true,
        platform: 'node',
        format: 'cjs',
        conditions: ['source'],
      },
      ...{ logLevel: 'error', external: ['dockerode'] },
    });
    const alone = 'mount -t tmpfs none "$1" && exec "$2" "$3"';
    const words = ['-m', 'sh', '-c', alone, 'sh', fixture.dataDir, process.execPath, script];
    const { stdout } = await run('unshare', words, {
      env: { ...process.env, NODE_PATH: join(process.cwd(), 'node_modules') },
    });
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
