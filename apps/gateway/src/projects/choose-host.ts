// Where a new project goes: the host with most room, among those that can take it.
import type { HostRecord } from '#domain';

export interface HostLoad {
  hostId: string;
  count: number;
}

/** `loads`: runs of each host that are not over. Undefined without hosts. The first of equals wins. */
export function chooseHost(hosts: readonly HostRecord[], loads: readonly HostLoad[]): HostRecord | undefined {
  const busy = new Map<string, number>();
  for (const { hostId, count } of loads) busy.set(hostId, (busy.get(hostId) ?? 0) + count);
  const room = (host: HostRecord): number => host.maxRuns - (busy.get(host.hostId) ?? 0);
  return hosts.reduce<HostRecord | undefined>(
    (best, host) => (best !== undefined && room(best) >= room(host) ? best : host),
    undefined,
  );
}

/** Folders beneath which projects can be created: those of held hosts first, then the last known ones of hosts whose worker is away. */
export const rootsOf = (hosts: readonly HostRecord[]): string[] => [
  ...new Set(
    [true, false].flatMap((held) => hosts.filter((host) => host.held === held)).flatMap((host) => host.projectRoots),
  ),
];
