// Sandboxes as hardened Docker containers: makes, finds, connects to, stops and removes those of one instance (R19).
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineInfo, SandboxConnection, SandboxRuntime, SandboxSpec, SandboxSummary } from '#domain';
import { AppError, isAppError } from '#kernel';
import { SandboxdConnection } from '../client/sandboxd-connection.adapter.js';
import type { ToolFiles } from './container-layout.js';
import { EngineClient, translated } from './engine-client.js';
import { Identity, LABEL } from './identity.js';
import { ImageCatalog } from './image-catalog.js';
import { provePaths } from './paths-proof.js';
import { removeLeftovers } from './probe-leftovers.js';
import { RunFolder } from './run-folder.js';
import { SandboxContainers } from './sandbox-containers.js';
import { SandboxStarter } from './sandbox-starter.js';
import { VolumeKeeper } from './volume-keeper.js';

/** Structural, so that any logger fits. */
export interface RuntimeLogger {
  info(facts: Record<string, unknown>, message: string): void;
}

export interface DockerSandboxRuntimeOptions {
  dockerSocket: string;
  /** Marks every container and volume (R19). */
  instanceId: string;
  /** Host folder; run folders lie below it, and the engine must see it under the same path. */
  dataDir: string;
  toolFiles: ToolFiles;
  /** Host folder in which the broker's socket lies. It must exist. */
  brokerSocketDir: string;
  logger?: RuntimeLogger;
}

/** What `docker info` says, of that which is used here (Docker Engine API, SystemInfo). */
interface SystemInfo {
  ID: string;
  ServerVersion: string;
  NCPU: number;
  MemTotal: number;
  LiveRestoreEnabled: boolean;
}

export class DockerSandboxRuntime implements SandboxRuntime {
  private readonly client: EngineClient;
  private readonly identity: Identity;
  private readonly images: ImageCatalog;
  private readonly containers: SandboxContainers;
  private readonly volumes: VolumeKeeper;
  private readonly starter: SandboxStarter;
  private readonly ensuring = new Map<string, Promise<SandboxSummary>>();

  constructor(private readonly options: DockerSandboxRuntimeOptions) {
    const { dataDir, toolFiles: tools, brokerSocketDir } = options;
    const identity = new Identity(options.instanceId);
    const client = new EngineClient(options.dockerSocket);
    const images = new ImageCatalog(client, identity);
    const containers = new SandboxContainers(client, identity);
    this.identity = identity;
    this.client = client;
    this.images = images;
    this.containers = containers;
    this.volumes = new VolumeKeeper(client, identity);
    this.starter = new SandboxStarter({ identity, containers, images, dataDir, tools, brokerSocketDir });
  }

  async engine(): Promise<EngineInfo> {
    const info = (await translated(this.client.call(() => this.client.docker.info()))) as SystemInfo;
    return {
      engineId: info.ID,
      version: info.ServerVersion,
      cpus: info.NCPU,
      memoryBytes: info.MemTotal,
      liveRestore: info.LiveRestoreEnabled,
    };
  }

  async provePaths(image: string): Promise<void> {
    const { runRoot } = this;
    await mkdir(runRoot, { recursive: true, mode: 0o700 });
    const { imageId } = await translated(this.images.look(image));
    const { client, identity, options } = this;
    await translated(provePaths({ engine: client, identity, runRoot, tools: options.toolFiles, imageId }));
  }

  async removeLeftovers({ olderThanMs }: { olderThanMs: number }): Promise<void> {
    const { client: engine, identity, runRoot } = this;
    await translated(removeLeftovers({ engine, identity, runRoot, olderThanMs }));
  }

  async ensure(spec: SandboxSpec): Promise<SandboxSummary> {
    const running = this.ensuring.get(spec.sandboxId);
    if (running) return running;
    const started = translated(this.starter.ensure(spec)).finally(() => this.ensuring.delete(spec.sandboxId));
    this.ensuring.set(spec.sandboxId, started);
    const summary = await started;
    const { sandboxId, projectId, containerId } = summary;
    const facts = { sandbox_id: sandboxId, project_id: projectId, container_id: containerId };
    this.options.logger?.info(facts, 'sandbox ready');
    return summary;
  }

  async list(): Promise<SandboxSummary[]> {
    return translated(this.containers.list());
  }

  async connect(sandboxId: string, { hostEpoch }: { hostEpoch: number }): Promise<SandboxConnection> {
    try {
      const socket = await new RunFolder(this.options.dataDir, sandboxId).connect();
      return await SandboxdConnection.greet(sandboxId, socket, hostEpoch);
    } catch (error) {
      if (!isAppError(error) || error.code !== 'sandbox.connection_lost') throw error;
      const found = await translated(this.containers.find(sandboxId));
      if (found?.State.Running) throw error;
      throw new AppError('sandbox.lost', 'The sandbox does not run any more.', { cause: error });
    }
  }

  async stop(sandboxId: string): Promise<void> {
    await translated(this.containers.stop(sandboxId));
  }

  async remove(sandboxId: string, { data }: { data: boolean }): Promise<void> {
    await translated(this.removeAll(sandboxId, data));
    this.options.logger?.info({ sandbox_id: sandboxId, data }, 'sandbox removed');
  }

  private get runRoot(): string {
    return join(this.options.dataDir, 'run');
  }

  private async removeAll(sandboxId: string, data: boolean): Promise<void> {
    const found = await this.containers.find(sandboxId);
    if (found) await this.containers.remove(this.containers.byId(found.Id));
    await new RunFolder(this.options.dataDir, sandboxId).remove();
    if (data) await this.volumes.removeOf(sandboxId, found?.Config.Labels[LABEL.project] ?? null);
  }
}
