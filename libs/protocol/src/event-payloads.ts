// The payloads of durable events, by type. Agent messages carry the agent's own JSON beside the few fields clients need.
import { z } from 'zod';
import {
  ANSWER_SOURCES,
  FINAL_RUN_STATUSES,
  PROJECT_STATES,
  RUN_KINDS,
  RUN_STATUSES,
  WAIT_REASONS,
  type EventType,
} from '#kernel';
import { permissionInfo, runError } from './models.schema.js';
import { id, timestamp } from './primitives.schema.js';

const agentJson = z.record(z.string(), z.unknown()).describe("The agent's own message, as it came");
const usage = z.record(z.string(), z.unknown());
const runFinished = z.object({
  status: z.enum(FINAL_RUN_STATUSES),
  kind: z.enum(RUN_KINDS),
  duration_ms: z.int().optional(),
  exit_code: z.int().optional(),
  exit_signal: z.string().optional(),
  error: runError.optional(),
  cost_usd: z.number().optional(),
});

export const EVENT_PAYLOADS = {
  'message.user': z.object({
    text: z.string().describe('As it was sent; a run.updated of the same run that has a text replaces it'),
    user_id: id,
    user_name: z.string().optional().describe('The name of then; messages of older servers lack it'),
    title: z.string().optional(),
  }),
  'message.assistant': z.object({
    message_id: z.string().describe("The model's id; the deltas of the same id end here"),
    block_index: z.int().describe('Index of the first content block of this event within the message'),
    parent_tool_use_id: z.string().optional(),
    agent: agentJson,
  }),
  'message.tool_result': z.object({ tool_use_ids: z.array(z.string()), agent: agentJson }),
  'message.system': z.object({ subtype: z.string(), agent: agentJson.optional(), text: z.string().optional() }),
  'message.result': z.object({
    subtype: z.string(),
    is_error: z.boolean(),
    text: z.string().optional(),
    usage: usage.optional(),
    cost_usd: z.number(),
    duration_ms: z.int().optional(),
    num_turns: z.int().optional(),
    agent: agentJson,
  }),
  'permission.requested': permissionInfo,
  'permission.closed': z.object({
    request_id: id,
    status: z.enum(['answered', 'expired', 'cancelled', 'run_ended']),
    behavior: z.enum(['allow', 'deny']).optional(),
    answered_by: z.object({ user_id: id, name: z.string() }).optional(),
    answered_via: z.enum(ANSWER_SOURCES).optional().describe("A person, the project's rules, or the clock"),
    message: z.string().optional(),
  }),
  'run.queued': z.object({ kind: z.enum(RUN_KINDS), lane: z.string(), title: z.string(), user_id: id }),
  'run.started': z.object({ kind: z.enum(RUN_KINDS), dispatch_no: z.int(), resumed: z.boolean() }),
  'run.updated': z
    .object({
      status: z.enum(RUN_STATUSES).optional(),
      paused_since: timestamp.optional(),
      parked_since: timestamp.optional().describe('With the status parked: its lane is free for others from now on'),
      text: z.string().optional().describe('What a queued prompt says now, instead of its message.user'),
      title: z.string().optional(),
      options_changed: z.boolean().optional(),
      position: z.int().optional().describe('Its new place in the queue of its lane, 0 for the next'),
      user_id: id.optional().describe('Who changed it'),
      user_name: z.string().optional(),
      attempt: z.int().optional().describe('The work of the run is begun again, for this time'),
      wait_ms: z.int().optional().describe('How long it waits before that'),
      wait_reason: z.enum(WAIT_REASONS).optional(),
      resume_at: timestamp.optional(),
      error: runError.optional().describe('Why it is begun again or waits'),
    })
    .catchall(z.unknown())
    .describe('Only the fields that changed'),
  'run.finished': runFinished,
  'run.cancelled': runFinished.describe('A run that was cancelled before it began'),
  'command.started': z.object({ shell_command: z.string(), working_directory: z.string(), user_id: id }),
  'command.finished': z.object({
    exit_code: z.int().optional(),
    exit_signal: z.string().optional(),
    duration_ms: z.int(),
    end_offset: z.int(),
  }),
  'session.created': z.object({ session_id: id, title: z.string().optional() }),
  'session.reset': z.object({ old_session_id: z.string(), reason: z.string() }),
  'session.updated': z.object({ session_id: id, status: z.string() }).catchall(z.unknown()),
  'session.compacted': z
    .object({
      session_id: id,
      trigger: z.string(),
      pre_tokens: z.int(),
      post_tokens: z.int().optional(),
      agent: agentJson,
    })
    .describe('The agent goes on with a summary: asked for (manual), or by itself (auto)'),
  'project.state': z.object({ state: z.enum(PROJECT_STATES) }),
  'project.updated': z
    .object({
      name: z.string().optional(),
      lane: z.string().optional().describe('Was paused or resumed'),
      paused: z.boolean().optional(),
      user_id: id.optional(),
      user_name: z.string().optional(),
    })
    .catchall(z.unknown()),
  'sandbox.started': z.object({ image: z.string(), ready_ms: z.int() }),
  'sandbox.lost': z.object({ reason: z.string() }),
  'project.deleted': z.object({ project_id: id, path: z.string() }),
} satisfies Partial<Record<EventType, z.ZodType>>;
export type EventPayloads = typeof EVENT_PAYLOADS;
export type EventPayload<T extends keyof EventPayloads> = z.infer<EventPayloads[T]>;
