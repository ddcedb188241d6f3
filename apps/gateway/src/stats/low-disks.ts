// Which disks are nearly full.
import type { Usage } from '#domain';

export interface LowDisk {
  hostId: string;
  disk: string;
  freePercent: number;
}

/** Disks of hosts that are held now: what a host said before it went away is old. `warnPercent` 0 never warns. */
export function lowDisks({ hosts }: Pick<Usage, 'hosts'>, warnPercent: number): LowDisk[] {
  return hosts.flatMap(({ hostId, held, load }) =>
    (held ? (load?.disks ?? []) : []).flatMap(({ disk, freeBytes, totalBytes }) => {
      const freePercent = totalBytes === 0 ? 100 : (100 * freeBytes) / totalBytes;
      return freePercent < warnPercent ? [{ hostId, disk, freePercent: Math.floor(freePercent) }] : [];
    }),
  );
}

export const describeLowDisks = (low: readonly LowDisk[]): string =>
  `Little disk space: ${low.map(({ disk, freePercent, hostId }) => `${disk} of host ${hostId} has ${freePercent} % free`).join('; ')}.`;
