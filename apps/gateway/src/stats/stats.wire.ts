// What the installation holds and does, as clients see it.
import type { HostUsage, Usage } from '#domain';
import type { ServerPush } from '#protocol';

const MIB = 1_048_576;

export const toStats = (usage: Usage, connections: number, now: Date): ServerPush<'stats'> => ({
  server_time: now.toISOString(),
  projects: Object.values(usage.projectStates).reduce((sum, count) => sum + count, 0),
  project_states: usage.projectStates,
  active_sessions: usage.activeSessions,
  connections,
  queues: usage.queues.map(({ hostId, state, count, oldestMs }) => ({
    host_id: hostId,
    state,
    count,
    oldest_ms: Math.round(oldestMs),
  })),
  hosts: usage.hosts.map(toHost),
  database_bytes: usage.databaseBytes,
  output_bytes: usage.outputBytes,
  events: usage.events,
});

const toHost = ({ hostId, held, lostAt, maxRuns, load }: HostUsage): ServerPush<'stats'>['hosts'][number] => ({
  host_id: hostId,
  held,
  ...(lostAt === null ? {} : { lost_since: lostAt.toISOString() }),
  max_runs: maxRuns,
  ...(load === undefined
    ? {}
    : {
        cpu_percent: load.cpuPercent,
        memory_mb: Math.round(load.memoryUsedBytes / MIB),
        memory_total_mb: Math.round(load.memoryTotalBytes / MIB),
        disks: load.disks.map(({ disk, freeBytes, totalBytes }) => ({
          disk,
          free_bytes: freeBytes,
          total_bytes: totalBytes,
        })),
      }),
});
