// Names and labels by which an instance of Gantry knows its own containers and volumes on an engine that it may share (R19).
import { createHash } from 'node:crypto';

export const LABEL = {
  instance: 'gantry.instance',
  project: 'gantry.project',
  sandbox: 'gantry.sandbox',
  /** `sandbox`: one of the product's; `probe`: made to look at an image or the host, and removed at once. */
  role: 'gantry.role',
  /** Hash of everything the container was created from. */
  spec: 'gantry.spec',
  /** `home` or `spool`, on volumes. */
  volume: 'gantry.volume',
} as const;

/** UUIDv7 begins with the time, so two of them often share their first letters; a hash does not. */
export const shortId = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 10);

export class Identity {
  private readonly prefix: string;

  constructor(readonly instanceId: string) {
    this.prefix = `gantry-${shortId(instanceId)}`;
  }

  containerName(sandboxId: string): string {
    return `${this.prefix}-${sandboxId}`;
  }

  spoolVolume(sandboxId: string): string {
    return `${this.prefix}-${sandboxId}-spool`;
  }

  /** One per project, so that an agent's conversations outlive its container. */
  homeVolume(projectId: string): string {
    return `${this.prefix}-${projectId}-home`;
  }

  labels(more: Record<string, string>): Record<string, string> {
    return { ...more, [LABEL.instance]: this.instanceId };
  }

  owns(labels: Readonly<Record<string, string>> | null | undefined): boolean {
    return labels?.[LABEL.instance] === this.instanceId;
  }

  /** For the engine's list calls. */
  filter(role: 'sandbox' | 'probe'): { label: string[] } {
    return { label: [`${LABEL.instance}=${this.instanceId}`, `${LABEL.role}=${role}`] };
  }
}
