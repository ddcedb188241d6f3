// A Docker runtime of its own for a test file: own instance id, own folders, sandboxd bundled from the sources; removes what it made.
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { newId } from '#kernel';
import type { SandboxLimits, SandboxRuntime, SandboxSpec } from '#domain';
import { type DockerSandboxRuntimeOptions, createDockerSandboxRuntime } from '#sandbox/docker';
import { testEnv } from '#testing';

const run = promisify(execFile);
const MIB = 1024 * 1024;

export const TEST_LIMITS: SandboxLimits = {
  memoryBytes: 512 * MIB,
  cpus: 2,
  pids: 128,
  tmpBytes: 64 * MIB,
  spoolBytes: 8 * MIB,
};

/** The one file that is mounted into sandboxes, from the sources as they are now. */
export async function bundleSandboxd(outfile: string): Promise<void> {
  await build({
    entryPoints: [join(process.cwd(), 'apps/sandboxd/src/main.ts')],
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    conditions: ['source'],
    outfile,
    logLevel: 'error',
  });
}

export class DockerSandboxFixture {
  readonly instanceId = newId();
  readonly root = mkdtempSync(join(tmpdir(), 'gantry-sandbox-test-'));
  readonly dataDir = join(this.root, 'data');
  readonly brokerSocketDir = join(this.root, 'broker');
  readonly image = testEnv().sandboxImage;
  private readonly projects = new Map<string, string>();
  private made: SandboxRuntime | undefined;

  /** The runtime; its options may be changed for a second one that shares this instance. */
  get runtime(): SandboxRuntime {
    if (!this.made) throw new Error('The fixture was not started.');
    return this.made;
  }

  async start(): Promise<this> {
    mkdirSync(this.dataDir, { recursive: true });
    mkdirSync(this.brokerSocketDir);
    await bundleSandboxd(this.toolFiles.sandboxd);
    this.made = this.createRuntime();
    return this;
  }

  get toolFiles(): { node: string; claude: string; sandboxd: string } {
    const { node, claude } = testEnv().toolFiles;
    return { node, claude, sandboxd: join(this.root, 'sandboxd.cjs') };
  }

  private get options(): DockerSandboxRuntimeOptions {
    const { instanceId, dataDir, toolFiles, brokerSocketDir } = this;
    return { dockerSocket: testEnv().dockerSocket, instanceId, dataDir, toolFiles, brokerSocketDir };
  }

  createRuntime(changes: Partial<DockerSandboxRuntimeOptions> = {}): SandboxRuntime {
    return createDockerSandboxRuntime({ ...this.options, ...changes });
  }

  /** A new sandbox of a new project with an empty workspace that belongs to its user. */
  spec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
    const sandboxId = newId();
    const { uid = 1000, gid = 1000 } = changes;
    const workspacePath = join(this.root, `workspace-${sandboxId}`);
    mkdirSync(workspacePath);
    chownSync(workspacePath, uid, gid);
    chmodSync(workspacePath, 0o700);
    const spec = { sandboxId, projectId: newId(), image: this.image, workspacePath, uid, gid, limits: TEST_LIMITS };
    this.projects.set(sandboxId, spec.projectId);
    return { ...spec, ...changes };
  }

  /** A script of its own process in which `runtime` and `image` are these, for what one process alone cannot show. */
  async bundleScript(body: string): Promise<{ run(file: string, args: string[]): Promise<{ stdout: string }> }> {
    const name = join(this.root, `script-${newId()}`);
    const options = { ...this.options, toolFiles: this.toolFiles };
    const adapter = join(process.cwd(), 'libs/sandbox/src/docker/index.ts');
    writeFileSync(
      `${name}.ts`,
      `import { createDockerSandboxRuntime } from '${adapter}';
       const runtime = createDockerSandboxRuntime(${JSON.stringify(options)});
       const image = '${this.image}';
       ${body}`,
    );
    await build({
      ...{ entryPoints: [`${name}.ts`], outfile: `${name}.cjs`, bundle: true, platform: 'node', format: 'cjs' },
      ...{ conditions: ['source'], logLevel: 'error', external: ['dockerode'] },
    });
    const env = { ...process.env, NODE_PATH: join(process.cwd(), 'node_modules') };
    return { run: (file, args) => run(file, [...args, process.execPath, `${name}.cjs`], { env }) };
  }

  /** A copy of a tool that a test may replace. */
  copyTool(from: string, name: string): string {
    const copy = join(this.root, name);
    copyFileSync(from, copy);
    return copy;
  }

  async stop(): Promise<void> {
    if (this.made) {
      for (const sandboxId of this.projects.keys()) await this.made.remove(sandboxId, { data: true });
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}
