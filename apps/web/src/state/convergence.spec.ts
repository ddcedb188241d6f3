// The promise that matters most: whatever happens on the way, the feed ends as the server's list.
import fc from 'fast-check';
import type { Delta } from '#protocol';
import { gapsOf, newestSeq, oldestSeq } from './event-log.js';
import { durableFeed, partialFeed } from './feed.js';
import { emptyProject, type JoinData, type PageData, projectReducer, type ProjectView } from './project-state.js';
import {
  assistant,
  deltaOf,
  eventsOf,
  finished,
  PROJECT,
  queued,
  said,
  type Step,
  started,
  toolResult,
} from './sample-run.js';
import type { WireEvent } from './wire-event.js';

const WORDS = 'The answer of this run, word by word.';

/** One run: a prompt, an answer streamed in pieces, a tool call, the end. */
function stepsOf(run: number): Step[] {
  const tool = { type: 'tool_use', id: `t${run}`, name: 'Bash', input: { command: 'ls' } };
  const answer = said(run, `m${run}`, 0, WORDS);
  return [
    queued(run),
    started(run),
    answer,
    assistant(run, `m${run}`, 1, tool),
    toolResult(run, `t${run}`, 'ok'),
    finished(run),
  ];
}

const EVENTS = eventsOf([1, 2, 3, 4, 5].flatMap(stepsOf));
const HEAD = EVENTS.length;

/** The deltas that the server has sent by the time of the event that ends their message. */
function deltasBefore(event: WireEvent): Delta[] {
  if (event.type !== 'message.assistant' || event.payload['block_index'] !== 0) return [];
  const run = Number(event.run_id?.slice(-3));
  return [0, 9, 18, 27].map((offset) => deltaOf(run, `m${run}`, 0, offset, WORDS.slice(offset, offset + 9)));
}

function join(view: ProjectView, head: number, limit: number): ProjectView {
  const since = newestSeq(view.log);
  const sinceSeq = since !== undefined && since > head ? undefined : since;
  const missed = EVENTS.filter(({ seq }) => seq > (sinceSeq ?? 0) && seq <= head);
  const events = missed.slice(-limit);
  const oldest = events[0]?.seq ?? 0;
  const cut = sinceSeq !== undefined && events.length < missed.length;
  const data: JoinData = {
    project: {
      project_id: PROJECT,
      name: 'p',
      path: '/p',
      state: 'IDLE',
      created_at: '2026-01-01T00:00:00.000Z',
      last_active: '2026-01-01T00:00:00.000Z',
      message_count: 0,
      queued_runs: 0,
      active_runs: 0,
    },
    events,
    ...(cut && { gap: { from_seq: sinceSeq + 1, to_seq: oldest - 1 } }),
    oldest_seq: oldest,
    newest_seq: events.at(-1)?.seq ?? 0,
    head_seq: head,
    total_count: head,
    is_complete: events.length === missed.length,
    live: EVENTS.slice(head, head + 1)
      .flatMap(deltasBefore)
      .slice(0, 2),
    permissions: [],
    queue: { project_id: PROJECT, revision: head, lanes: [] },
  };
  const action = { type: 'joined', data } as const;
  return projectReducer(view, sinceSeq === undefined ? action : { ...action, sinceSeq });
}

function page(view: ProjectView, beforeSeq: number, asked: number): ProjectView {
  const older = EVENTS.filter(({ seq }) => seq < beforeSeq);
  const messages = older.slice(-asked);
  const seqs = { oldest_seq: messages[0]?.seq ?? 0, newest_seq: messages.at(-1)?.seq ?? 0 };
  const data: PageData = { messages, ...seqs, total_count: HEAD, is_complete: older.length <= asked };
  return projectReducer(view, { type: 'page', beforeSeq, asked, data });
}

type Happening =
  | { do: 'push'; at: number }
  | { do: 'delta'; at: number; piece: number }
  | { do: 'join'; head: number; limit: number }
  | { do: 'older'; asked: number }
  | { do: 'gap'; asked: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ do: fc.constant('push' as const), at: fc.nat(HEAD - 1) }),
  fc.record({ do: fc.constant('delta' as const), at: fc.nat(HEAD - 1), piece: fc.nat(3) }),
  fc.record({
    do: fc.constant('join' as const),
    head: fc.integer({ min: 0, max: HEAD }),
    limit: fc.integer({ min: 1, max: HEAD }),
  }),
  fc.record({ do: fc.constant('older' as const), asked: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant('gap' as const), asked: fc.integer({ min: 1, max: 8 }) }),
);

function happen(view: ProjectView, what: Happening): ProjectView {
  switch (what.do) {
    case 'push': {
      const event = EVENTS[what.at];
      return event === undefined ? view : projectReducer(view, { type: 'event', event });
    }
    case 'delta': {
      const delta = EVENTS.slice(what.at).flatMap(deltasBefore)[what.piece];
      return delta === undefined ? view : projectReducer(view, { type: 'delta', delta });
    }
    case 'join':
      return join(view, what.head, what.limit);
    case 'older': {
      const oldest = oldestSeq(view.log);
      return oldest === undefined || view.log.reachesStart ? view : page(view, oldest, what.asked);
    }
    case 'gap': {
      const gap = gapsOf(view.log).at(-1);
      return gap === undefined ? view : page(view, gap.to + 1, Math.min(what.asked, gap.to - gap.from + 1));
    }
  }
}

function expectSound(view: ProjectView): void {
  const seqs = view.log.events.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  const keys = [...durableFeed(view.log), ...partialFeed(view.partials)].map(({ key }) => key);
  expect(keys.length).toBe(new Set(keys).size); // nothing is shown both as written and as being written
}

/** What the page does by itself in the end: the last reconnect, the holes, the history. */
function settleDown(view: ProjectView): ProjectView {
  let next = join(view, HEAD, HEAD);
  for (let round = 0; gapsOf(next.log).length > 0 && round <= HEAD; round += 1)
    next = happen(next, { do: 'gap', asked: 5 });
  for (let round = 0; !next.log.reachesStart && round <= HEAD; round += 1)
    next = happen(next, { do: 'older', asked: 5 });
  return next;
}

describe('a project’s view', () => {
  it('WEB-6, WEB-9 ends as the server’s list, whatever pushes, deltas, joins and pages came in which order', () => {
    const truth = durableFeed(settleDown(emptyProject(PROJECT)).log);
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
        let view = emptyProject(PROJECT);
        for (const what of happenings) {
          view = happen(view, what);
          expectSound(view);
        }
        const end = settleDown(view);
        expect(end.log.events).toEqual(EVENTS);
        expect(durableFeed(end.log)).toEqual(truth);
        expect(end.partials).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('WEB-6 begins anew when the server has another, shorter history', () => {
    const view = join(emptyProject(PROJECT), HEAD, HEAD);
    const data = { ...emptyJoin(view), events: EVENTS.slice(0, 2), head_seq: 2 };
    const next = projectReducer(view, { type: 'joined', data, sinceSeq: HEAD });
    expect(next.log.events).toEqual(EVENTS.slice(0, 2));
  });

  it('WEB-7 leaves the part that a join could not bring as a hole', () => {
    const view = join(projectReducer(emptyProject(PROJECT), { type: 'event', event: first() }), HEAD, 4);
    expect(gapsOf(view.log)).toEqual([{ from: 2, to: HEAD - 4 }]);
    expect(durableFeed(view.log)[0]).toMatchObject({ kind: 'gap', from: 2, to: HEAD - 4 });
  });

  it('WEB-8 an empty page settles what was asked for', () => {
    const view = projectReducer(emptyProject(PROJECT), { type: 'event', event: { ...first(), seq: 9 } });
    const data = { messages: [], oldest_seq: 0, newest_seq: 0, total_count: 1, is_complete: true };
    expect(projectReducer(view, { type: 'page', beforeSeq: 9, asked: 5, data }).log.reachesStart).toBe(true);
  });
});

function first(): WireEvent {
  const [event] = EVENTS;
  if (event === undefined) throw new Error('there are no events');
  return event;
}

function emptyJoin(view: ProjectView): JoinData {
  const { snapshot } = view;
  if (snapshot === undefined) throw new Error('the view was not joined');
  const queue = { project_id: PROJECT, revision: 0, lanes: [] };
  const seqs = { oldest_seq: 0, newest_seq: 0, head_seq: 0, total_count: 0, is_complete: true };
  return { project: snapshot.project, events: [], live: [], permissions: [], queue, ...seqs };
}
