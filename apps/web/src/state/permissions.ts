// Which questions of the agent wait for an answer, and how those that were answered ended.
import type { EventPayload, PermissionInfo } from '#protocol';
import { lowerBound } from './event-log.js';
import type { ProjectView } from './project-state.js';
import { readEvent, type WireEvent } from './wire-event.js';

export type PermissionClosing = EventPayload<'permission.closed'>;

/**
 * The open questions, oldest first (by time, then id), whatever the order in which the page heard of them: the server's list at
 * the time of joining, and the events after it.
 */
export function pendingPermissions(view: ProjectView): PermissionInfo[] {
  if (view.snapshot === undefined) return [];
  const open = new Map(view.snapshot.permissions.map((request) => [request.request_id, request]));
  const closed = new Set<string>();
  for (const event of eventsAfter(view, view.snapshot.headSeq)) {
    const read = readEvent(event);
    if (read.type === 'permission.requested') open.set(read.payload.request_id, read.payload);
    if (read.type === 'permission.closed') closed.add(read.payload.request_id);
  }
  return [...open.values()]
    .filter(({ request_id: id }) => !closed.has(id))
    .sort((a, b) => compare(a.created_at, b.created_at) || compare(a.request_id, b.request_id));
}

/** What an answer must carry. Undefined for a question whose input is cut: what was not shown whole is not answered. */
export function answerKeyOf(request: PermissionInfo): { request_id: string; input_hash: string } | undefined {
  const { request_id, input_hash, truncated } = request;
  return truncated === true || input_hash === undefined ? undefined : { request_id, input_hash };
}

/** How questions ended, by request id. */
export function permissionClosings(events: readonly WireEvent[]): Map<string, PermissionClosing> {
  const closings = new Map<string, PermissionClosing>();
  for (const event of events) {
    const read = readEvent(event);
    if (read.type === 'permission.closed') closings.set(read.payload.request_id, read.payload);
  }
  return closings;
}

export function eventsAfter(view: ProjectView, seq: number): readonly WireEvent[] {
  return view.log.events.slice(lowerBound(view.log.events, seq + 1));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
