// The catalogue of events that a client may send: shape of the payload, shape of the ack's data, and the role it takes.
import { z } from 'zod';
import { ANSWER_SOURCES, RUN_STATUSES, type Role } from '#kernel';
import { claudeOptions } from './claude-options.schema.js';
import { getEvents } from './get-events.js';
import { LIMITS } from './limits.js';
import { messageEvents } from './message-events.js';
import {
  commandSession,
  delta,
  eventInfo,
  permissionInfo,
  projectInfo,
  queueSnapshot,
  runInfo,
  sessionInfo,
} from './models.schema.js';
import { outputGap } from './output.schema.js';
import {
  argument,
  cursor,
  id,
  idempotencyKey,
  isPassableJson,
  isShowable,
  lane,
  offset,
  pageLimit,
  seq,
  SHOWABLE_RULE,
  timestamp,
  title,
} from './primitives.schema.js';
import { projectSettingsPatch } from './project-settings.schema.js';
import { ifBusy, priority, prompt, queueEvents } from './queue-events.js';
import { runControlEvents, sessionEvents } from './session-events.js';
import { statsEvents } from './stats-events.js';

interface ClientEventSpec {
  summary: string;
  /** Least role in the project that the event is about; `user`: any signed-in user. */
  role: Role | 'user';
  /** Creating events take an idempotency_key. */
  request: z.ZodType;
  data: z.ZodType;
}

const empty = z.object({});
const path = z.string().min(1).max(LIMITS.maxPathLength).refine(isShowable, { message: SHOWABLE_RULE });
const projectRef = z.strictObject({ project_id: id });
const runRef = z.strictObject({ run_id: id });
const JSON_RULE = { message: 'must not contain NUL bytes or half surrogate pairs, nor be nested deeper than 64' };
const toolInput = z.record(z.string(), z.unknown()).refine(isPassableJson, JSON_RULE);
/** An image reference as Docker writes it: name[:tag][@digest], with an optional registry. */
const imageName = z
  .string()
  .max(500)
  .regex(
    /^[a-z0-9][a-z0-9._/:@-]*$/i,
    'must be an image reference, e.g. debian:bookworm or registry.example.com/team/image:1',
  );
const windowBytes = z.int().min(LIMITS.streamWindowBytes.min).max(LIMITS.streamWindowBytes.max);
const argv = z
  .array(argument.max(128 * 1024))
  .min(1)
  .max(LIMITS.maxArgs);
const queuedRun = z.object({ run_id: id, status: z.enum(RUN_STATUSES), position: z.int().optional() });

const projectEvents = {
  project_list: {
    summary: 'Projects that the user can see, most recently active first.',
    role: 'user',
    request: z.strictObject({ limit: pageLimit.optional(), cursor: cursor.optional() }),
    data: z.object({ projects: z.array(projectInfo), next_cursor: z.string().optional() }),
  },
  project_create: {
    summary: 'Makes a project of a folder beneath an allowed root; the folder is created if it is missing.',
    role: 'user',
    request: z.strictObject({
      path,
      name: title.optional(),
      image: imageName.optional(),
      options: claudeOptions.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    data: projectInfo,
  },
  project_update: {
    summary: 'Changes the name, the default options or the settings of a project; settings are merged key by key.',
    role: 'editor',
    request: z.strictObject({
      project_id: id,
      name: title.optional(),
      options: claudeOptions.optional(),
      settings: projectSettingsPatch.optional(),
    }),
    data: projectInfo,
  },
  project_delete: {
    summary: 'Removes a project, its container, HOME and spools; never the folder. Refused while a run is active.',
    role: 'owner',
    request: projectRef,
    data: z.object({ project_id: id, success: z.boolean() }),
  },
  project_join: {
    summary: 'Subscribes to a project and answers with what was missed. Live pushes start at head_seq + 1.',
    role: 'viewer',
    request: z.strictObject({ project_id: id, since_seq: seq.optional(), last_message_id: id.optional() }),
    data: z.object({
      project: projectInfo,
      events: z.array(eventInfo),
      gap: z
        .object({ from_seq: seq, to_seq: seq })
        .optional()
        .describe('Events left out: fetch them with get_messages'),
      oldest_seq: seq,
      newest_seq: seq,
      head_seq: seq,
      total_count: z.int(),
      is_complete: z.boolean(),
      live: z.array(delta).describe('Messages that are being written, whole so far'),
      permissions: z.array(permissionInfo),
      queue: queueSnapshot,
    }),
  },
  project_leave: { summary: 'Ends the subscription.', role: 'viewer', request: projectRef, data: empty },
  get_messages: {
    summary: 'History, by sequence number or time; keyset pages, oldest first.',
    role: 'viewer',
    request: z.strictObject({
      project_id: id,
      session_id: id.optional(),
      since: timestamp.optional(),
      after_seq: seq.optional(),
      before_seq: seq.optional(),
      limit: pageLimit.optional(),
    }),
    data: z.object({
      messages: z.array(eventInfo),
      oldest_seq: seq,
      newest_seq: seq,
      total_count: z.int(),
      is_complete: z.boolean(),
    }),
  },
  message_ack: {
    summary: 'Remembers how far this client_id has read; a later project_join without since_seq starts there.',
    role: 'viewer',
    request: z.strictObject({ project_id: id, seq }),
    data: empty,
  },
} satisfies Record<string, ClientEventSpec>;

const runEvents = {
  execute: {
    summary: 'Queues a prompt. Without session_id it continues the current conversation, or begins one.',
    role: 'editor',
    request: z.strictObject({
      project_id: id,
      prompt,
      session_id: id.optional(),
      options: claudeOptions.optional(),
      lane: lane.optional(),
      priority: priority.optional(),
      if_busy: ifBusy.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    data: queuedRun.extend({ session_id: id }),
  },
  execute_command: {
    summary: 'Queues a shell command: an argv array, or one string for `sh -c`.',
    role: 'editor',
    request: z.strictObject({
      project_id: id,
      command: z.union([argv, argument.min(1).max(128 * 1024)]),
      working_directory: argument
        .max(LIMITS.maxPathLength)
        .optional()
        .describe('Inside the workspace, relative to it or absolute'),
      parallel: z.boolean().optional().describe('In a lane of its own, so that it starts at once'),
      stdin: z.literal('pipe').optional().describe('The command reads what run_input brings; else its stdin is empty'),
      timeout_ms: z.int().min(100).optional(),
      priority: priority.optional(),
      if_busy: ifBusy.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    data: queuedRun.extend({ command_session_id: z.string(), shell_command: z.string() }),
  },
  agent_new_session: {
    summary: 'The next prompt begins a new conversation.',
    role: 'editor',
    request: projectRef,
    data: z.object({ project_id: id, old_session_id: z.string(), new_session_id: z.string() }),
  },
  session_list: {
    summary: 'Conversations, newest first.',
    role: 'user',
    request: z.strictObject({ project_id: id.optional(), limit: pageLimit.optional(), cursor: cursor.optional() }),
    data: z.object({ sessions: z.array(sessionInfo), next_cursor: z.string().optional() }),
  },
  run_list: {
    summary: 'Runs of a project, newest first.',
    role: 'viewer',
    request: z.strictObject({
      project_id: id,
      status: z.enum(RUN_STATUSES).optional(),
      limit: pageLimit.optional(),
      cursor: cursor.optional(),
    }),
    data: z.object({ runs: z.array(runInfo), next_cursor: z.string().optional() }),
  },
  run_cancel: {
    summary: 'Ends a run: a queued one at once, a running one by INT, TERM, KILL to everything it started.',
    role: 'editor',
    request: runRef,
    data: runInfo,
  },
  agent_kill: {
    summary: "Cancels the agent's run in the project's main lane; a command is left to run_cancel.",
    role: 'editor',
    request: projectRef,
    data: runInfo,
  },
  permission_get: {
    summary: 'A question of the agent with its whole input, whatever the size of messages that the client asked for.',
    role: 'viewer',
    request: z.strictObject({ request_id: id }),
    data: permissionInfo,
  },
  permission_respond: {
    summary: 'Answers a question of the agent. The first answer wins; later ones are told who gave it.',
    role: 'editor',
    request: z.strictObject({
      request_id: id,
      input_hash: z.string().min(1).max(128),
      behavior: z.enum(['allow', 'deny']),
      updated_input: toolInput.optional(),
      message: argument.max(4000).optional(),
      suggestions: z.array(z.unknown()).max(20).refine(isPassableJson, JSON_RULE).optional(),
    }),
    data: z.object({
      request_id: id,
      behavior: z.enum(['allow', 'deny']),
      answered_by: z.object({ user_id: id, name: z.string() }).optional().describe('Nobody where a rule answered'),
      answered_via: z.enum(ANSWER_SOURCES),
      answered_at: timestamp,
      first: z.boolean().describe('Whether this answer was the one that counts'),
    }),
  },
} satisfies Record<string, ClientEventSpec>;

const streamEvents = {
  stream_subscribe: {
    summary: 'Output of a command from an offset on, as stream_data, at most window_bytes ahead of stream_ack.',
    role: 'viewer',
    request: z.strictObject({ stream_id: id, from_offset: offset.optional(), window_bytes: windowBytes.optional() }),
    data: z.object({
      stream_id: id,
      start_offset: offset,
      head_offset: offset,
      truncated: z
        .boolean()
        .describe('Bytes from start_offset on are not kept: gap says which, as far as is known now'),
      gap: outputGap.optional(),
      ended: z.boolean(),
    }),
  },
  stream_ack: {
    summary: 'Says how far the client has read (an absolute offset); more is sent up to the window beyond it.',
    role: 'viewer',
    request: z.strictObject({ stream_id: id, acked_offset: offset }),
    data: empty,
  },
  stream_unsubscribe: {
    summary: 'Ends a stream subscription.',
    role: 'viewer',
    request: z.strictObject({ stream_id: id }),
    data: empty,
  },
  get_command_history: {
    summary: 'Commands that were run, newest first.',
    role: 'viewer',
    request: z.strictObject({ project_id: id, working_directory: z.string().optional(), limit: pageLimit.optional() }),
    data: z.object({ sessions: z.array(commandSession) }),
  },
  get_command_output: {
    summary:
      'Stored output of a command as text, by range, in whole characters. A marker stands for bytes that are not kept.',
    role: 'viewer',
    request: z.strictObject({
      command_session_id: z.string().regex(/^cmd-[0-9a-f-]{36}$/),
      from_offset: offset.optional(),
      max_bytes: z.int().min(1).max(LIMITS.outputReadBytes.max).optional(),
    }),
    data: z.object({
      output: z.string(),
      gap: outputGap.optional().describe('What the marker in output stands for'),
      exit_code: z.int().optional(),
      duration_ms: z.int().optional(),
      timestamp,
      command_id: z.string().optional(),
      shell_command: z.string(),
      working_directory: z.string(),
      is_complete: z.boolean(),
      next_offset: offset,
    }),
  },
} satisfies Record<string, ClientEventSpec>;

const serviceEvents = {
  health: {
    summary: 'State of the service and of what it needs.',
    role: 'user',
    request: z.strictObject({}),
    data: z.object({
      status: z.enum(['ok', 'degraded', 'down']),
      checks: z.record(z.string(), z.object({ ok: z.boolean(), message: z.string().optional() })),
      version: z.string(),
      uptime_ms: z.int(),
    }),
  },
  ping: {
    summary: 'The server’s time.',
    role: 'user',
    request: z.strictObject({}),
    data: z.object({ server_time: timestamp }),
  },
} satisfies Record<string, ClientEventSpec>;

export const CLIENT_EVENTS = {
  ...projectEvents,
  ...runEvents,
  ...queueEvents,
  ...runControlEvents,
  ...sessionEvents,
  ...streamEvents,
  ...getEvents,
  ...messageEvents,
  ...serviceEvents,
  ...statsEvents,
};
export type ClientEventName = keyof typeof CLIENT_EVENTS;
export type ClientRequest<E extends ClientEventName> = z.infer<(typeof CLIENT_EVENTS)[E]['request']>;
export type ClientData<E extends ClientEventName> = z.infer<(typeof CLIENT_EVENTS)[E]['data']>;
