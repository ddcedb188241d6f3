// The end of a project whose deletion began: its container, HOME and spools, then its rows. The user's folder stays.
import type { ProjectStore, SandboxRuntime } from '#domain';

export interface ProjectRemoverParts {
  hostId: string;
  projects: Pick<ProjectStore, 'listDeleting' | 'finishDelete'>;
  runtime: Pick<SandboxRuntime, 'remove'>;
  /** Closes the connection to a sandbox that goes. */
  disconnect: (sandboxId: string) => Promise<void>;
}

export class ProjectRemover {
  constructor(private readonly parts: ProjectRemoverParts) {}

  /** False for a project whose deletion did not begin. Idempotent. Throws `host.engine_unreachable`. */
  async remove(projectId: string): Promise<boolean> {
    const deleting = await this.parts.projects.listDeleting(this.parts.hostId);
    const found = deleting.find((project) => project.projectId === projectId);
    if (found === undefined) return false;
    await this.finish(found);
    return true;
  }

  /** Those that an earlier worker did not come to. */
  async removeAll(failed: (projectId: string, error: unknown) => void): Promise<void> {
    for (const project of await this.parts.projects.listDeleting(this.parts.hostId)) {
      try {
        await this.finish(project);
      } catch (error) {
        failed(project.projectId, error);
      }
    }
  }

  private async finish({ projectId, sandboxId }: { projectId: string; sandboxId: string | null }): Promise<void> {
    if (sandboxId !== null) {
      await this.parts.disconnect(sandboxId);
      await this.parts.runtime.remove(sandboxId, { data: true });
    }
    await this.parts.projects.finishDelete(projectId);
  }
}
