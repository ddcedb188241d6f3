// Sandboxes in memory, for unit tests of what runs on them. Passes the same contract suite as the Docker adapter.
import type { EngineInfo, SandboxConnection, SandboxRuntime, SandboxSpec, SandboxSummary } from '#domain';
import { AppError } from '#kernel';
import type { ScriptRegistry } from './fake-script.js';
import { FakeSandbox, sandboxLost } from './fake-sandbox.js';
import { STANDARD_SCRIPTS } from './standard-scripts.js';

export interface FakeSandboxRuntimeOptions {
  /** Programs besides the standard ones, by name; they win over those. */
  scripts?: ScriptRegistry;
  /** The images that exist; any image if absent. */
  images?: readonly string[];
}

export class FakeSandboxRuntime implements SandboxRuntime {
  /** While true the engine cannot be reached. */
  unreachable = false;
  private readonly sandboxes = new Map<string, FakeSandbox>();
  private readonly scripts: ScriptRegistry;

  constructor(private readonly options: FakeSandboxRuntimeOptions = {}) {
    this.scripts = { ...STANDARD_SCRIPTS, ...options.scripts };
  }

  async engine(): Promise<EngineInfo> {
    this.reach();
    return { engineId: 'fake', version: '0', cpus: 2, memoryBytes: 8 * 2 ** 30, liveRestore: true };
  }

  async provePaths(image: string): Promise<void> {
    this.reach();
    this.checkImage(image);
  }

  /** Its proofs leave nothing behind. */
  async removeLeftovers(): Promise<void> {
    this.reach();
  }

  async ensure(spec: SandboxSpec): Promise<SandboxSummary> {
    this.reach();
    this.checkImage(spec.image);
    const sandbox = this.sandboxes.get(spec.sandboxId) ?? new FakeSandbox(spec, this.scripts);
    this.sandboxes.set(spec.sandboxId, sandbox);
    sandbox.boot();
    return summaryOf(sandbox);
  }

  async list(): Promise<SandboxSummary[]> {
    this.reach();
    return [...this.sandboxes.values()].map(summaryOf);
  }

  async connect(sandboxId: string, { hostEpoch }: { hostEpoch: number }): Promise<SandboxConnection> {
    const sandbox = this.sandboxes.get(sandboxId);
    if (sandbox?.state !== 'running') throw sandboxLost();
    return sandbox.connect(hostEpoch);
  }

  async stop(sandboxId: string): Promise<void> {
    this.reach();
    this.sandboxes.get(sandboxId)?.crash();
  }

  async remove(sandboxId: string, _options: { data: boolean }): Promise<void> {
    this.reach();
    this.sandboxes.get(sandboxId)?.crash();
    this.sandboxes.delete(sandboxId);
  }

  /** As if the container had died by itself. */
  crash(sandboxId: string): void {
    this.sandboxes.get(sandboxId)?.crash();
  }

  /** Names of the processes that `fork` made and that still live. */
  forkedIn(sandboxId: string): string[] {
    const processes = this.sandboxes.get(sandboxId)?.processes.values() ?? [];
    return [...processes].flatMap((process) => process.childNames);
  }

  private reach(): void {
    if (this.unreachable) throw new AppError('host.engine_unreachable', 'The Docker engine cannot be reached.');
  }

  private checkImage(image: string): void {
    if (this.options.images === undefined || this.options.images.includes(image)) return;
    throw new AppError('sandbox.image_missing', 'The sandbox image is not on this host.', { details: { image } });
  }
}

const summaryOf = ({ spec, state }: FakeSandbox): SandboxSummary => ({
  sandboxId: spec.sandboxId,
  projectId: spec.projectId,
  containerId: `fake-${spec.sandboxId}`,
  state,
});
