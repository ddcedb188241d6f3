// Everything this page knows of one project, and how each message of the server changes it. Pure.
import type { ClientData, Delta, PermissionInfo, ProjectInfo, QueueSnapshot, RunInfo } from '#protocol';
import type { CommandHistory } from './commands.js';
import { addEvents, EMPTY_LOG, type EventLog, markStart, type SeqRange } from './event-log.js';
import { addDelta, isSettled, type Partials, settle } from './partial-message.js';
import type { Problem } from './problem.js';
import { readEvent, type WireEvent } from './wire-event.js';

export type JoinData = Omit<ClientData<'project_join'>, 'events'> & { events: WireEvent[] };
export type PageData = Omit<ClientData<'get_messages'>, 'messages'> & { messages: WireEvent[] };

/** What the server said of the project as a whole, true at `headSeq`; later events go on top of it. */
export interface Snapshot {
  readonly headSeq: number;
  readonly project: ProjectInfo;
  readonly permissions: readonly PermissionInfo[];
}

export interface ProjectView {
  readonly projectId: string;
  readonly phase: 'joining' | 'joined' | 'failed' | 'deleted';
  readonly problem: Problem | undefined;
  readonly log: EventLog;
  readonly partials: Partials;
  readonly snapshot: Snapshot | undefined;
  readonly queue: QueueSnapshot | undefined;
  /** From run_list, for runs whose events are not loaded. */
  readonly runs: readonly RunInfo[];
  readonly commandHistory: CommandHistory | undefined;
  /** Of a page of history. */
  readonly loading: 'idle' | 'busy' | Problem;
}

export type ProjectAction =
  | { type: 'joining' }
  | { type: 'joined'; data: JoinData; sinceSeq?: number }
  | { type: 'join_failed'; problem: Problem }
  | { type: 'event'; event: WireEvent }
  | { type: 'delta'; delta: Delta }
  | { type: 'queue'; queue: QueueSnapshot }
  | { type: 'runs'; runs: RunInfo[] }
  | { type: 'command_history'; commands: CommandHistory }
  | { type: 'page_requested' }
  | { type: 'page'; beforeSeq: number; asked: number; data: PageData }
  | { type: 'page_failed'; problem: Problem };

export function emptyProject(projectId: string): ProjectView {
  return {
    projectId,
    phase: 'joining',
    problem: undefined,
    log: EMPTY_LOG,
    partials: [],
    snapshot: undefined,
    queue: undefined,
    runs: [],
    commandHistory: undefined,
    loading: 'idle',
  };
}

export function projectReducer(view: ProjectView, action: ProjectAction): ProjectView {
  switch (action.type) {
    case 'joining':
      return view.phase === 'failed' ? { ...view, phase: 'joining', problem: undefined } : view;
    case 'joined':
      return joined(view, action.data, action.sinceSeq);
    case 'join_failed':
      return { ...view, phase: 'failed', problem: action.problem };
    case 'event':
      return withEvents(view, [action.event]);
    case 'delta':
      return isSettled(view.log.events, action.delta)
        ? view
        : { ...view, partials: addDelta(view.partials, action.delta) };
    case 'queue':
      return { ...view, queue: newerQueue(view.queue, action.queue) };
    case 'runs':
      return { ...view, runs: action.runs };
    case 'command_history':
      return { ...view, commandHistory: action.commands };
    case 'page_requested':
      return { ...view, loading: 'busy' };
    case 'page':
      return pageLoaded(view, action.beforeSeq, action.asked, action.data);
    case 'page_failed':
      return { ...view, loading: action.problem };
  }
}

function joined(view: ProjectView, data: JoinData, sinceSeq: number | undefined): ProjectView {
  const { project, permissions, head_seq: headSeq } = data;
  // A server that has less than we do has another history: ours is not part of it.
  if (sinceSeq !== undefined && sinceSeq > headSeq) return joined(emptyProject(view.projectId), data, undefined);
  const stale = view.snapshot !== undefined && view.snapshot.headSeq > headSeq;
  const filled = withEvents(view, data.events, coveredByJoin(data, sinceSeq));
  // The server's partial messages are whole, so they replace ours, which may have missed a delta or outlived their run.
  const partials = data.live
    .filter((delta) => !isSettled(filled.log.events, delta))
    .reduce<Partials>(addDelta, stale ? filled.partials : []);
  return {
    ...filled,
    phase: filled.phase === 'deleted' ? 'deleted' : 'joined',
    problem: undefined,
    partials,
    snapshot: stale ? view.snapshot : { headSeq, project, permissions },
    queue: newerQueue(view.queue, data.queue),
  };
}

/** The join's events have no holes; the part that the server left out lies before them, as `gap`. */
function coveredByJoin({ events, gap }: JoinData, sinceSeq: number | undefined): SeqRange | undefined {
  const seqs = events.map(({ seq }) => seq);
  if (seqs.length === 0) return undefined;
  const oldest = Math.min(...seqs);
  const from = gap === undefined && sinceSeq !== undefined ? Math.min(sinceSeq + 1, oldest) : oldest;
  return { from, to: Math.max(...seqs) };
}

function pageLoaded(view: ProjectView, beforeSeq: number, asked: number, data: PageData): ProjectView {
  const seqs = data.messages.map(({ seq }) => seq);
  // An empty page settles what was asked for, so that nobody asks again.
  const oldest = seqs.length === 0 ? Math.max(0, beforeSeq - asked) : Math.min(...seqs);
  const next = withEvents({ ...view, loading: 'idle' }, data.messages, { from: oldest, to: beforeSeq - 1 });
  const isOldestRange = next.log.ranges[0]?.from === oldest;
  const nothingOlder = data.is_complete || seqs.length === 0;
  return isOldestRange && nothingOlder ? { ...next, log: markStart(next.log) } : next;
}

function withEvents(view: ProjectView, events: readonly WireEvent[], covered?: SeqRange): ProjectView {
  const log = addEvents(view.log, events, covered);
  if (log === view.log) return view;
  const deleted = events.some((event) => readEvent(event).type === 'project.deleted');
  return { ...view, log, partials: settle(view.partials, events), phase: deleted ? 'deleted' : view.phase };
}

function newerQueue(held: QueueSnapshot | undefined, received: QueueSnapshot): QueueSnapshot {
  return held !== undefined && held.revision > received.revision ? held : received;
}
