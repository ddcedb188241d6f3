// Client events that change what waits: the text and the place of queued runs, and whether a lane starts anything.
import { z } from 'zod';
import { claudeOptions } from './claude-options.schema.js';
import { LIMITS } from './limits.js';
import { queueLane, runInfo } from './models.schema.js';
import { argument, byteLength, id, lane } from './primitives.schema.js';

export const prompt = argument.min(1).refine((text) => byteLength(text) <= LIMITS.maxPromptBytes, {
  message: `must not exceed ${LIMITS.maxPromptBytes} bytes`,
});

export const priority = z
  .enum(['normal', 'next', 'now'])
  .describe('next: ahead of all that are queued in the lane; now: what is in the way is interrupted, too');
export const ifBusy = z
  .enum(['queue', 'reject'])
  .describe('reject: session.locked, and nothing is stored, where the run could not start at once');

const laneRef = z.strictObject({ project_id: id, lane: lane.optional() });

export const queueEvents = {
  run_update: {
    summary:
      'Changes the prompt or the options of a queued prompt; options replace those it was sent with. `run.not_queued` once it has started.',
    role: 'editor',
    request: z
      .strictObject({ run_id: id, prompt: prompt.optional(), options: claudeOptions.optional() })
      .refine((changes) => changes.prompt !== undefined || changes.options !== undefined, {
        message: 'prompt or options has to be given',
      }),
    data: runInfo,
  },
  run_move: {
    summary:
      'Moves a queued run ahead of another one of its lane, or to the end of the lane. `run.not_queued` if one of them does not wait there.',
    role: 'editor',
    request: z.strictObject({ run_id: id, before_run_id: id.optional() }),
    data: runInfo,
  },
  lane_pause: {
    summary: 'Lets nothing of a lane (main) start until lane_resume; what has begun goes on.',
    role: 'editor',
    request: laneRef,
    data: queueLane,
  },
  lane_resume: {
    summary: 'Lets a paused lane go on.',
    role: 'editor',
    request: laneRef,
    data: queueLane,
  },
} as const;
