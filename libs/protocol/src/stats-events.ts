// The numbers of the installation, for those who ask.
import { z } from 'zod';
import { PROJECT_STATES, RUN_STATUSES } from '#kernel';
import { id, timestamp } from './primitives.schema.js';

const diskSpace = z.object({
  disk: z.string().describe('What lies on it: data, or projects'),
  free_bytes: z.int(),
  total_bytes: z.int(),
});

export const stats = z.object({
  server_time: timestamp,
  projects: z.int(),
  project_states: z.partialRecord(z.enum(PROJECT_STATES), z.int()),
  active_sessions: z.int().describe('Conversations with a run that has begun and is not over'),
  connections: z.int().describe('Of this gateway'),
  queues: z.array(
    z.object({
      host_id: id,
      state: z.enum(RUN_STATUSES),
      count: z.int(),
      oldest_ms: z.int().describe('Since the oldest of them was queued'),
    }),
  ),
  hosts: z.array(
    z.object({
      host_id: id,
      held: z.boolean().describe('Whether a worker holds it now'),
      lost_since: timestamp.optional(),
      max_runs: z.int(),
      cpu_percent: z.int().optional(),
      memory_mb: z.int().optional().describe('Used'),
      memory_total_mb: z.int().optional(),
      disks: z.array(diskSpace).optional(),
    }),
  ),
  database_bytes: z.int(),
  output_bytes: z.int().describe('Stored output of commands'),
  events: z.int(),
});

export const statsEvents = {
  stats_subscribe: {
    summary: 'Answers with the numbers of the installation, which then come as stats every 10 seconds.',
    role: 'user',
    request: z.strictObject({}),
    data: stats,
  },
  stats_unsubscribe: { summary: 'No stats any more.', role: 'user', request: z.strictObject({}), data: z.object({}) },
} as const;
