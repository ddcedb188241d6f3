// The whole history of a project as JSON lines: page by page from the store, and a last line that says that nothing is missing.
import type { EventRange, EventRecord, EventStore, ProjectRecord, ProjectStore } from '#domain';
import type { z } from 'zod';
import { AppError } from '#kernel';
import type { exportEnd } from '#protocol';
import { toEventInfo } from '../live/live.wire.js';

export interface ExportPorts {
  events: Pick<EventStore, 'after' | 'ofSession'>;
  projects: Pick<ProjectStore, 'find'>;
}

export interface ExportRange {
  afterSeq: number;
  sessionId?: string;
}

/** One read of the store: what an export costs in memory. */
const PAGE = { limit: 500, maxBytes: 1024 * 1024 } as const;

/**
 * Pieces of whole lines: the events after `afterSeq` up to the newest one at the beginning, so that an export of a busy project ends. Throws
 * `project.not_found` when the project is deleted meanwhile: then there is no last line.
 */
export async function* exportLines(
  ports: ExportPorts,
  project: Pick<ProjectRecord, 'projectId' | 'headSeq' | 'oldestSeq'>,
  { afterSeq, sessionId }: ExportRange,
): AsyncGenerator<string> {
  const { projectId, headSeq, oldestSeq } = project;
  const read = (after: number): Promise<EventRange> =>
    sessionId === undefined
      ? ports.events.after(projectId, after, PAGE)
      : ports.events.ofSession(projectId, sessionId, after, PAGE);
  let count = 0;
  for (let after = afterSeq; after < headSeq;) {
    const { events, truncated } = await read(after);
    const ours = events.filter(({ seq }) => seq <= headSeq);
    count += ours.length;
    if (ours.length > 0) yield linesOf(ours);
    const last = events.at(-1)?.seq;
    if (last === undefined || (!truncated && sessionId !== undefined)) break;
    after = last;
  }
  // Sequence numbers have no gaps.
  const expected = Math.max(0, headSeq - Math.max(afterSeq, oldestSeq - 1));
  const complete = sessionId !== undefined || count === expected;
  if (!complete || (await ports.projects.find(projectId)) === undefined) {
    throw new AppError('project.not_found', 'The project was deleted meanwhile.');
  }
  const end: z.infer<typeof exportEnd> = {
    type: 'export.complete',
    project_id: projectId,
    after_seq: afterSeq,
    through_seq: Math.max(headSeq, afterSeq),
    count,
  };
  yield `${JSON.stringify(end)}\n`;
}

const linesOf = (events: readonly EventRecord[]): string => events.map((event) => `${lineOf(event)}\n`).join('');

/** The payload goes as it is stored: to look for what would have to be cut costs as much as writing it. */
const lineOf = (event: EventRecord): string => {
  const { payload: _, ...envelope } = toEventInfo({ ...event, payload: {} }, Number.POSITIVE_INFINITY);
  return JSON.stringify({ ...envelope, payload: event.payload });
};
