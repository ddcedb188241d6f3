// What the feed must know of later events to show an earlier one: results of tool calls, ends of runs and of questions.
import { agentContent, type ToolResult, toolResults } from './agent-message.js';
import { type PermissionClosing, permissionClosings } from './permissions.js';
import { readEvent, type ReadEvent, type WireEvent } from './wire-event.js';

export interface FeedIndex {
  /** By tool-use id. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** Tool-use ids of the calls that are loaded. */
  readonly calls: ReadonlySet<string>;
  readonly closings: ReadonlyMap<string, PermissionClosing>;
  /** Tool-use ids of the calls about which a question is open. */
  readonly asking: ReadonlySet<string>;
  readonly endedRuns: ReadonlySet<string>;
  /** By run: what its prompt was changed to while it waited, and who did. */
  readonly edits: ReadonlyMap<string, PromptEdit>;
  /** Runs whose end says what went wrong. */
  readonly failedRuns: ReadonlySet<string>;
  /** By run: the sentences with which its result or its end says what went wrong. */
  readonly failures: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface PromptEdit {
  readonly text: string;
  readonly userId: string | undefined;
  readonly userName: string | undefined;
}

export function indexEvents(events: readonly WireEvent[]): FeedIndex {
  const results = new Map<string, ToolResult>();
  const calls = new Set<string>();
  const endedRuns = new Set<string>();
  const failedRuns = new Set<string>();
  for (const event of events) {
    const read = readEvent(event);
    if (read.type === 'message.tool_result') {
      for (const result of toolResults(read.payload.agent)) results.set(result.toolUseId, result);
    } else if (read.type === 'message.assistant') {
      for (const block of agentContent(read.payload.agent)) if (block.type === 'tool_use') calls.add(block.id);
    } else if (event.run_id !== undefined && (read.type === 'run.finished' || read.type === 'run.cancelled')) {
      endedRuns.add(event.run_id);
      if (read.payload.status !== 'succeeded') failedRuns.add(event.run_id);
    }
  }
  const closings = permissionClosings(events);
  const asking = openQuestions(events, closings);
  return {
    results,
    calls,
    closings,
    asking,
    endedRuns,
    failedRuns,
    edits: editsOf(events),
    failures: failuresOf(events),
  };
}

/** The newest one counts: that is what the agent was asked. */
function editsOf(events: readonly WireEvent[]): Map<string, PromptEdit> {
  const edits = new Map<string, PromptEdit>();
  for (const event of events) {
    const read = readEvent(event);
    if (event.run_id === undefined || read.type !== 'run.updated' || read.payload.text === undefined) continue;
    const { text, user_id: userId, user_name: userName } = read.payload;
    edits.set(event.run_id, { text, userId, userName });
  }
  return edits;
}

function failuresOf(events: readonly WireEvent[]): Map<string, Set<string>> {
  const failures = new Map<string, Set<string>>();
  for (const event of events) {
    const said = event.run_id === undefined ? undefined : failureOf(readEvent(event));
    if (said === undefined || event.run_id === undefined) continue;
    failures.set(event.run_id, (failures.get(event.run_id) ?? new Set()).add(said.trim()));
  }
  return failures;
}

function failureOf(read: ReadEvent): string | undefined {
  if (read.type === 'message.result') return read.payload.is_error ? (read.payload.text ?? '') : undefined;
  if (read.type === 'run.finished' || read.type === 'run.cancelled') return read.payload.error?.message;
  return undefined;
}

function openQuestions(events: readonly WireEvent[], closings: ReadonlyMap<string, PermissionClosing>): Set<string> {
  const open = new Set<string>();
  for (const event of events) {
    const read = readEvent(event);
    if (read.type !== 'permission.requested' || closings.has(read.payload.request_id)) continue;
    if (read.payload.tool_use_id !== undefined) open.add(read.payload.tool_use_id);
  }
  return open;
}
