// The catalogue of what the server pushes. Clients read pushes tolerantly: fields may be added.
import { z } from 'zod';
import { STREAM_CHANNELS } from '#kernel';
import { delta, eventInfo, queueSnapshot, userInfo } from './models.schema.js';
import { outputGap } from './output.schema.js';
import { id, offset, timestamp } from './primitives.schema.js';
import { stats } from './stats-events.js';

export const helloLimits = z.object({
  max_frame_bytes: z.int(),
  max_message_kb: z.int().describe('The limit in force for this connection'),
  max_prompt_bytes: z.int(),
  run_timeout_ms: z.int(),
  run_timeout_max_ms: z.int(),
});

export const SERVER_EVENTS = {
  hello: {
    summary: 'First push after connecting.',
    payload: z.object({
      version: z.string(),
      protocol: z.object({ min: z.int(), max: z.int() }),
      server_time: timestamp,
      user: userInfo,
      limits: helloLimits,
      demo_model: z.boolean().describe('Answers come from the built-in demo model, not from a real one'),
      project_roots: z.array(z.string()).describe('Folders beneath which projects can be created'),
    }),
  },
  event: { summary: 'A durable event, in seq order, without gaps within a joined project.', payload: eventInfo },
  delta: {
    summary: 'Text of a message that is being written; the durable event with the same message_id replaces it.',
    payload: delta,
  },
  stream_data: {
    summary: 'Bytes of a command’s output.',
    payload: z.object({
      stream_id: id,
      offset,
      channel: z.enum(STREAM_CHANNELS),
      data: z
        .custom<Uint8Array>((value) => value instanceof Uint8Array || value instanceof ArrayBuffer)
        .meta({ description: 'binary' }),
    }),
  },
  stream_gap: {
    summary:
      'Bytes of a command’s output that are not kept: the next stream_data, or the end, is at to_offset. They take no credit.',
    payload: outputGap.extend({ stream_id: id }),
  },
  stream_end: {
    summary: 'The stream is over and every byte was sent.',
    payload: z.object({ stream_id: id, end_offset: offset, exit_code: z.int().optional(), reason: z.string() }),
  },
  queue_changed: { summary: 'The lanes of a joined project.', payload: queueSnapshot },
  stats: { summary: 'The numbers of the installation, every 10 seconds, for those who asked.', payload: stats },
  server_notice: {
    summary: 'A word from the service: drain, version skew, limits.',
    payload: z.object({
      code: z
        .string()
        .describe(
          '`service.draining`: connect again. `resync_required`: join the project of project_id again. `disk.low`: a disk is nearly full',
        ),
      message: z.string(),
      project_id: id.optional(),
      retry_after_ms: z.int().optional(),
    }),
  },
} satisfies Record<string, { summary: string; payload: z.ZodType }>;

export type ServerEventName = keyof typeof SERVER_EVENTS;
export type ServerPush<E extends ServerEventName> = z.infer<(typeof SERVER_EVENTS)[E]['payload']>;
