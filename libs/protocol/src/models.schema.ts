// What clients see of projects, sessions, runs and events.
import { z } from 'zod';
import {
  EVENT_TYPES,
  PERMISSION_MODES,
  PERMISSION_STATUSES,
  PROJECT_STATES,
  RUN_KINDS,
  ROLES,
  RUN_STATUSES,
  SESSION_STATUSES,
  WAIT_REASONS,
} from '#kernel';
import { claudeOptions } from './claude-options.schema.js';
import { id, offset, seq, timestamp } from './primitives.schema.js';
import { projectSettings } from './project-settings.schema.js';

export const projectInfo = z.object({
  project_id: id,
  name: z.string(),
  path: z.string(),
  state: z.enum(PROJECT_STATES),
  created_at: timestamp,
  last_active: timestamp,
  first_message_time: timestamp.optional(),
  last_message_time: timestamp.optional(),
  message_count: z.int(),
  session_id: id.optional().describe('The conversation that the next prompt continues'),
  queued_runs: z.int(),
  active_runs: z.int(),
  image: z.string().optional(),
  options: claudeOptions.optional().describe('Defaults for every prompt of the project'),
  settings: projectSettings.optional().describe('Left out while nothing is set'),
});
export type ProjectInfo = z.infer<typeof projectInfo>;

export const sessionInfo = z.object({
  session_id: id,
  project_id: id,
  agent: z.string(),
  title: z.string().optional(),
  model: z.string().optional(),
  permission_mode: z.enum(PERMISSION_MODES).optional(),
  status: z.enum(SESSION_STATUSES),
  created_at: timestamp,
  updated_at: timestamp,
  last_run_at: timestamp.optional(),
  cost_usd: z.number(),
});
export type SessionInfo = z.infer<typeof sessionInfo>;

export const runError = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

export const runInfo = z.object({
  run_id: id,
  project_id: id,
  session_id: id.optional(),
  lane: z.string(),
  kind: z.enum(RUN_KINDS),
  status: z.enum(RUN_STATUSES),
  title: z.string().describe('First line of the prompt or the command'),
  position: z.int().optional().describe('0 for the next one of its lane; only while queued'),
  blocked_by: z
    .literal('host.unavailable')
    .optional()
    .describe('No worker holds its host now; it goes on when one does'),
  queued_at: timestamp,
  started_at: timestamp.optional(),
  finished_at: timestamp.optional(),
  waiting_since: timestamp.optional(),
  wait_reason: z.enum(WAIT_REASONS).optional(),
  resume_at: timestamp.optional().describe('When a wait ends by itself'),
  parked_since: timestamp.optional().describe('Since when its lane is free for others while it waits'),
  paused_since: timestamp.optional(),
  attempts: z.int().optional().describe('More than 1 after a retry inside the run'),
  duration_ms: z.int().optional(),
  exit_code: z.int().optional(),
  exit_signal: z.string().optional(),
  error: runError.optional(),
  cost_usd: z.number().optional(),
  usage: z.record(z.string(), z.unknown()).optional(),
  output_bytes: z.int().optional().describe('Bytes of a command’s output that are stored'),
  output_truncated: z.boolean().optional().describe('A cap left out the middle, or the output has expired'),
  timeout_ms: z.int(),
  created_by: id,
});
export type RunInfo = z.infer<typeof runInfo>;

export const eventInfo = z.object({
  project_id: id,
  seq,
  event_id: id,
  session_id: id.optional(),
  run_id: id.optional(),
  type: z.enum(EVENT_TYPES),
  created_at: timestamp,
  payload: z.record(z.string(), z.unknown()).describe('See Event payloads'),
});
export type EventInfo = z.infer<typeof eventInfo>;

export const permissionInfo = z.object({
  request_id: id,
  project_id: id,
  session_id: id,
  run_id: id,
  tool_name: z.string(),
  tool_use_id: z.string().optional().describe("The agent's id of the tool call; questions of older servers lack it"),
  input: z.record(z.string(), z.unknown()),
  input_hash: z
    .string()
    .optional()
    .describe(
      'Send it back with the answer, so that nobody approves something else than was shown. Not with a cut input',
    ),
  truncated: z
    .boolean()
    .optional()
    .describe(
      "Set when the input is cut to the client's limit: permission_get gives the whole, and the hash to answer it",
    ),
  suggestions: z.array(z.unknown()),
  status: z.enum(PERMISSION_STATUSES),
  created_at: timestamp,
  expires_at: timestamp.optional().describe('When it counts as refused if nobody has answered'),
});
export type PermissionInfo = z.infer<typeof permissionInfo>;

const activeRun = z.object({
  run_id: id,
  kind: z.enum(RUN_KINDS),
  status: z.enum(RUN_STATUSES),
  title: z.string(),
  started_at: timestamp.optional(),
  waiting_since: timestamp.optional(),
  wait_reason: z.enum(WAIT_REASONS).optional(),
  answerable_by: z.array(z.enum(ROLES)).optional().describe('Who may end the wait'),
  resume_at: timestamp.optional(),
});

export const queueLane = z.object({
  lane: z.string(),
  active_run_id: id.optional(),
  active: activeRun.optional(),
  parked: z.array(activeRun).optional().describe('Runs that wait for a person and have left the lane to others'),
  paused: z.object({ since: timestamp, by: id }).optional().describe('Nothing of the lane starts until lane_resume'),
  queued: z
    .array(z.object({ run_id: id, position: z.int(), kind: z.enum(RUN_KINDS), title: z.string() }))
    .describe('The beginning of the queue'),
  queued_count: z.int().optional().describe('All that are queued; servers of before list all of them'),
});
export type QueueLane = z.infer<typeof queueLane>;

export const queueSnapshot = z.object({ project_id: id, revision: z.int(), lanes: z.array(queueLane) });
export type QueueSnapshot = z.infer<typeof queueSnapshot>;

export const delta = z.object({
  project_id: id,
  run_id: id,
  message_id: z.string(),
  block_index: z.int(),
  block_type: z.enum(['text', 'thinking', 'tool_use']),
  offset: offset.describe('Characters (UTF-16 code units) of this block before this text'),
  text: z.string(),
});
export type Delta = z.infer<typeof delta>;

export const userInfo = z.object({ user_id: id, name: z.string(), is_admin: z.boolean() });

export const commandSession = z.object({
  command_session_id: z.string(),
  run_id: id,
  command_id: z.string().optional(),
  shell_command: z.string(),
  working_directory: z.string(),
  status: z.enum(RUN_STATUSES),
  exit_code: z.int().optional(),
  duration_ms: z.int().optional(),
  timestamp,
  output_preview: z.string(),
  is_complete: z.boolean(),
});
