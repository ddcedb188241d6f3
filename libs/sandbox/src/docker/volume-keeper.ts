// The volumes of sandboxes: HOME per project, spools per sandbox. Docker makes them with the container; they outlive it and are
// removed only on request. Their files are never touched from the host.
import { type EngineClient, unlessMissing } from './engine-client.js';
import { type Identity, LABEL } from './identity.js';

export class VolumeKeeper {
  constructor(
    private readonly engine: EngineClient,
    private readonly identity: Identity,
  ) {}

  /** Removes what a sandbox left: its spools, and the HOME of its project. `projectId` null: as the volumes say. */
  async removeOf(sandboxId: string, projectId: string | null): Promise<void> {
    const spool = this.identity.spoolVolume(sandboxId);
    const project = projectId ?? (await this.projectOf(spool));
    await this.removeOwn(spool);
    if (project !== null) await this.removeOwn(this.identity.homeVolume(project));
  }

  private async projectOf(volume: string): Promise<string | null> {
    return (await this.labelsOf(volume))?.[LABEL.project] ?? null;
  }

  private async removeOwn(name: string): Promise<void> {
    if (!this.identity.owns(await this.labelsOf(name))) return;
    const volume = this.engine.docker.getVolume(name);
    await unlessMissing(this.engine.call((abortSignal) => volume.remove({ abortSignal })));
  }

  private async labelsOf(name: string): Promise<Record<string, string> | null> {
    const volume = this.engine.docker.getVolume(name);
    const found = await unlessMissing(this.engine.call((abortSignal) => volume.inspect({ abortSignal })));
    return found?.Labels ?? null;
  }
}
