// What runs and what waits its turn: the queue's snapshot joined with what the events say of each run.
import type { RunKind } from '#kernel';
import type { ProjectInfo, QueueLane } from '#protocol';
import { eventsAfter, pendingPermissions } from './permissions.js';
import type { ProjectView } from './project-state.js';
import { readEvent, type WireEvent } from './wire-event.js';

export interface ActiveRun {
  readonly runId: string;
  readonly lane: string;
  readonly kind: RunKind | undefined;
  readonly title: string;
  /** `starting`: dispatched, its process has not begun. `waiting`: for an answer of a person. */
  readonly phase: 'starting' | 'running' | 'waiting';
  readonly startedAt: string | undefined;
}

/** How many wait, also those that are too far behind to be listed. */
export function queuedCount(view: ProjectView): number {
  const lanes = view.queue?.lanes ?? [];
  const unlisted = lanes.map(({ queued, queued_count: count = queued.length }) => Math.max(0, count - queued.length));
  return unlisted.reduce((sum, count) => sum + count, queuedRuns(view).length);
}

export type QueuedRun = QueueLane['queued'][number] & { readonly lane: string };

interface RunFacts {
  kind?: RunKind;
  title?: string;
  startedAt?: string;
  ended?: boolean;
}

/** The runs that hold a lane now, the main lane's first. */
export function activeRuns(view: ProjectView): ActiveRun[] {
  const lanes = view.queue?.lanes ?? [];
  const facts = runFacts(view);
  const waiting = new Set(pendingPermissions(view).map(({ run_id: runId }) => runId));
  return lanes.flatMap(({ lane, active_run_id: runId }) => {
    if (runId === undefined) return [];
    const { kind, title = '', startedAt, ended } = facts.get(runId) ?? {};
    if (ended === true) return [];
    const phase = waiting.has(runId) ? 'waiting' : startedAt === undefined ? 'starting' : 'running';
    return [{ runId, lane, kind, title, phase, startedAt } satisfies ActiveRun];
  });
}

export function queuedRuns(view: ProjectView): QueuedRun[] {
  const ended = runFacts(view);
  return (view.queue?.lanes ?? []).flatMap(({ lane, queued }) =>
    queued.filter((run) => ended.get(run.run_id)?.ended !== true).map((run) => ({ ...run, lane })),
  );
}

/** The project with its state and name as of the newest event. */
export function currentProject(view: ProjectView): ProjectInfo | undefined {
  if (view.snapshot === undefined) return undefined;
  let project = view.snapshot.project;
  for (const event of eventsAfter(view, view.snapshot.headSeq)) {
    const read = readEvent(event);
    if (read.type === 'project.state') project = { ...project, state: read.payload.state };
    if (read.type === 'project.updated') project = { ...project, name: read.payload.name ?? project.name };
  }
  return project;
}

function runFacts(view: ProjectView): Map<string, RunFacts> {
  const facts = new Map<string, RunFacts>();
  for (const run of view.runs) {
    const { kind, title, started_at: startedAt, finished_at: finishedAt } = run;
    facts.set(run.run_id, { kind, title, ...(startedAt && { startedAt }), ended: finishedAt !== undefined });
  }
  for (const event of view.log.events) {
    if (event.run_id !== undefined) learn(facts, event.run_id, event);
  }
  return facts;
}

function learn(facts: Map<string, RunFacts>, runId: string, event: WireEvent): void {
  const read = readEvent(event);
  const known = facts.get(runId) ?? {};
  if (read.type === 'run.queued') facts.set(runId, { ...known, kind: read.payload.kind, title: read.payload.title });
  else if (read.type === 'run.updated')
    facts.set(runId, { ...known, ...(read.payload.title && { title: read.payload.title }) });
  else if (read.type === 'run.started') facts.set(runId, { ...known, startedAt: known.startedAt ?? event.created_at });
  else if (read.type === 'run.finished' || read.type === 'run.cancelled') facts.set(runId, { ...known, ended: true });
}
