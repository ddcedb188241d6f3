// Builds the events and deltas of runs as the server would send them, for the specs of this folder.
import type { Delta } from '#protocol';
import type { WireEvent } from './wire-event.js';

export const PROJECT = '0197f000-0000-7000-8000-000000000001';
export const USER = '0197f000-0000-7000-8000-000000000002';

/** A well-formed id that ends in this number. */
export const idOf = (n: number): string => `0197f000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export interface Step {
  type: string;
  run?: number;
  payload?: Record<string, unknown>;
}

/** Numbers the steps as a project's events, from 1. */
export function eventsOf(steps: readonly Step[]): WireEvent[] {
  return steps.map(({ type, run, payload = {} }, index) => ({
    project_id: PROJECT,
    seq: index + 1,
    event_id: idOf(1_000_000 + index),
    ...(run !== undefined && { run_id: idOf(run) }),
    type,
    created_at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    payload,
  }));
}

export const queued = (run: number, kind: 'prompt' | 'command' = 'prompt'): Step => ({
  type: 'run.queued',
  run,
  payload: { kind, lane: 'main', title: `run ${run}`, user_id: USER },
});
export const started = (run: number): Step => ({
  type: 'run.started',
  run,
  payload: { kind: 'prompt', dispatch_no: 1, resumed: false },
});
export const finished = (run: number, more: Record<string, unknown> = {}): Step => ({
  type: 'run.finished',
  run,
  payload: { status: 'succeeded', kind: 'prompt', ...more },
});
export const assistant = (run: number, messageId: string, blockIndex: number, ...content: object[]): Step => ({
  type: 'message.assistant',
  run,
  payload: { message_id: messageId, block_index: blockIndex, agent: { type: 'assistant', message: { content } } },
});
export const said = (run: number, messageId: string, blockIndex: number, text: string): Step =>
  assistant(run, messageId, blockIndex, { type: 'text', text });
export const toolResult = (run: number, toolUseId: string, content: unknown, isError = false): Step => {
  const result = { type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError };
  return {
    type: 'message.tool_result',
    run,
    payload: { tool_use_ids: [toolUseId], agent: { message: { content: [result] } } },
  };
};

export const deltaOf = (run: number, messageId: string, blockIndex: number, offset: number, text: string): Delta => ({
  project_id: PROJECT,
  run_id: idOf(run),
  message_id: messageId,
  block_index: blockIndex,
  block_type: 'text',
  offset,
  text,
});
