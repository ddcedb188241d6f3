// Client events that steer runs at work and conversations.
import { z } from 'zod';
import { PERMISSION_MODES, RUN_STATUSES } from '#kernel';
import { LIMITS } from './limits.js';
import { runInfo, sessionInfo } from './models.schema.js';
import { argument, id, idempotencyKey, title } from './primitives.schema.js';

const runRef = z.strictObject({ run_id: id });
const sessionRef = z.strictObject({ session_id: id });
const model = argument.min(1).max(200);
const permissionMode = z.enum(PERMISSION_MODES);

export const runControlEvents = {
  run_interrupt: {
    summary:
      'Ends the turn of a prompt and keeps its agent and what was said; sends INT to everything that a command started. `run.not_active` for a queued run.',
    role: 'editor',
    request: runRef,
    data: runInfo,
  },
  run_pause: {
    summary:
      'Holds everything that a running run started still, until run_resume. Its time stands still, its slot is free.',
    role: 'editor',
    request: runRef,
    data: runInfo,
  },
  run_resume: {
    summary: 'Lets a paused run go on, as soon as there is a slot for it.',
    role: 'editor',
    request: runRef,
    data: runInfo,
  },
  run_input: {
    summary:
      'Writes to the stdin of a command that was started with stdin: pipe. Pieces are numbered from 1; one that was taken before changes nothing.',
    role: 'editor',
    request: z.strictObject({
      run_id: id,
      input_seq: z.int().min(1).max(2_147_483_647),
      data: z
        .string()
        .max(LIMITS.inputBytes * 2)
        .optional()
        .describe(`At most ${LIMITS.inputBytes} bytes`),
      encoding: z.enum(['utf-8', 'base64']).optional().describe('How `data` is written; utf-8 unless said otherwise'),
      eof: z.boolean().optional().describe('Nothing follows'),
    }),
    data: z.object({ run_id: id, input_seq: z.int(), duplicate: z.boolean() }),
  },
} as const;

export const sessionEvents = {
  session_create: {
    summary: 'Makes a conversation, which the next prompt of the project continues.',
    role: 'editor',
    request: z.strictObject({
      project_id: id,
      title: title.optional(),
      model: model.optional(),
      permission_mode: permissionMode.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    data: sessionInfo,
  },
  session_update: {
    summary:
      'Changes a conversation. Model and permission mode reach a running turn too, else the next prompt; null gives them back to the defaults.',
    role: 'editor',
    request: z.strictObject({
      session_id: id,
      title: title.optional(),
      model: model.nullable().optional(),
      permission_mode: permissionMode.nullable().optional(),
    }),
    data: sessionInfo,
  },
  session_resume: {
    summary: 'Makes a conversation the one that the next prompt of its project continues. `session.archived` if it is.',
    role: 'editor',
    request: sessionRef,
    data: sessionInfo,
  },
  session_archive: {
    summary: 'Ends a conversation for good. `session.locked` with the blocker while a run of it is queued or active.',
    role: 'editor',
    request: sessionRef,
    data: sessionInfo,
  },
  session_compact: {
    summary:
      'Queues a run of the kind compact: the agent replaces what was said by a summary. `session.nothing_to_compact` where nothing was.',
    role: 'editor',
    request: z.strictObject({ session_id: id, idempotency_key: idempotencyKey.optional() }),
    data: z.object({ run_id: id, status: z.enum(RUN_STATUSES), position: z.int().optional() }),
  },
} as const;
