// Brings a sandbox up: finds or creates its container, starts it, and waits until its supervisor answers. Any number of callers,
// in any number of processes, may do so at once: the engine's names decide who creates.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container, ContainerInspectInfo } from 'dockerode';
import type { SandboxSpec, SandboxSummary } from '#domain';
import { AppError, isAppError } from '#kernel';
import { SandboxdConnection } from '../client/sandboxd-connection.adapter.js';
import { LAYOUT, type ToolFiles } from './container-layout.js';
import { containerOptions } from './container-options.js';
import { type Identity, LABEL } from './identity.js';
import type { ImageCatalog } from './image-catalog.js';
import { RunFolder } from './run-folder.js';
import type { SandboxContainers } from './sandbox-containers.js';
import { startupFailure } from './startup-failure.js';
import { userFiles } from './user-files.js';

const READY_DEADLINE_MS = 30_000;
const READY_POLL_MS = 10;
/** How often the container itself is looked at while its supervisor does not answer. */
const INSPECT_EVERY_MS = 200;
const HELLO_DEADLINE_MS = 5000;
/** Rounds in which others may create, replace or remove the same container under our hands. */
const MAX_ROUNDS = 5;

export interface StarterOptions {
  identity: Identity;
  containers: SandboxContainers;
  images: ImageCatalog;
  dataDir: string;
  tools: ToolFiles;
  brokerSocketDir: string;
}

export class SandboxStarter {
  constructor(private readonly options: StarterOptions) {}

  async ensure(spec: SandboxSpec): Promise<SandboxSummary> {
    checkOwner(spec);
    const folder = new RunFolder(this.options.dataDir, spec.sandboxId);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const container = await this.bringUp(spec, folder);
      if (container && (await this.becomesReady(spec.sandboxId, container, folder))) {
        const { sandboxId, projectId } = spec;
        return { sandboxId, projectId, containerId: container.id, state: 'running' };
      }
    }
    throw new AppError('sandbox.start_failed', 'The sandbox was removed or replaced again and again while it started.');
  }

  /** A started container, or null when others interfered and the caller should look again. */
  private async bringUp(spec: SandboxSpec, folder: RunFolder): Promise<Container | null> {
    const { containers } = this.options;
    const found = await containers.find(spec.sandboxId);
    if (found?.State.Running) {
      const container = containers.byId(found.Id);
      if (found.State.Paused) await containers.unpause(container);
      // A running one is never replaced for a newer specification: it may be at work (R18).
      return container;
    }
    const container = await this.stoppedContainer(spec, folder, found);
    return container && containers.start(container);
  }

  private async stoppedContainer(
    spec: SandboxSpec,
    folder: RunFolder,
    found: ContainerInspectInfo | null,
  ): Promise<Container | null> {
    const { containers, images, identity, tools, brokerSocketDir } = this.options;
    const image = await images.look(spec.image);
    const files = userFiles(image, { uid: spec.uid, gid: spec.gid, home: LAYOUT.home });
    await folder.prepare(files);
    const { socketFolder, passwdFile, groupFile } = folder;
    const wanted = containerOptions({
      ...{ identity, spec, tools, brokerSocketDir, socketFolder, passwdFile, groupFile },
      imageId: image.imageId,
      userName: files.userName,
    });
    if (found) {
      const same = found.Config.Labels[LABEL.spec] === wanted.Labels?.[LABEL.spec];
      if (same) return containers.byId(found.Id);
      await containers.remove(containers.byId(found.Id));
    }
    return containers.create(wanted);
  }

  /** False when the container is gone. Throws why it ended, if it did. */
  private async becomesReady(sandboxId: string, container: Container, folder: RunFolder): Promise<boolean> {
    const deadline = Date.now() + READY_DEADLINE_MS;
    let nextInspect = Date.now() + INSPECT_EVERY_MS;
    while (!(await answers(sandboxId, folder))) {
      if (Date.now() >= nextInspect) {
        if (!(await this.isComingUp(sandboxId, container))) return false;
        nextInspect = Date.now() + INSPECT_EVERY_MS;
      }
      if (Date.now() >= deadline) {
        throw new AppError('sandbox.start_failed', 'The sandbox was not ready in time.', {
          cause: new Error(await this.options.containers.lastLog(container)),
        });
      }
      await sleep(READY_POLL_MS);
    }
    return true;
  }

  private async isComingUp(sandboxId: string, container: Container): Promise<boolean> {
    const { containers } = this.options;
    const found = await containers.find(sandboxId);
    if (found?.Id !== container.id) return false;
    const { Running, ExitCode, OOMKilled } = found.State;
    if (Running) return true;
    const log = await containers.lastLog(container);
    throw startupFailure({ exitCode: ExitCode, log, outOfMemory: OOMKilled });
  }
}

/** Whether the supervisor answers; a probe takes no part in the epochs. */
async function answers(sandboxId: string, folder: RunFolder): Promise<boolean> {
  try {
    const connection = await SandboxdConnection.greet(sandboxId, await folder.connect(), null, HELLO_DEADLINE_MS);
    connection.close();
    return true;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox.connection_lost') return false;
    throw error;
  }
}

/** Jobs of root could reach sandboxd and, through a mount, more (R21). */
function checkOwner({ uid, gid }: SandboxSpec): void {
  if ([uid, gid].every((id) => Number.isSafeInteger(id) && id > 0)) return;
  throw new AppError('project.path_not_writable', 'The workspace belongs to root; sandboxes do not run as root.', {
    details: { uid, gid, remedy: 'Give the folder to an ordinary user, e.g. chown 1000:1000.' },
  });
}
