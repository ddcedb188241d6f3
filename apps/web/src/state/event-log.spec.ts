// The log of events under any order of arrival.
import fc from 'fast-check';
import { addEvents, EMPTY_LOG, gapsOf, markStart, newestSeq, oldestSeq } from './event-log.js';
import type { WireEvent } from './wire-event.js';

const event = (seq: number): WireEvent => ({
  project_id: '0197f000-0000-7000-8000-000000000001',
  seq,
  event_id: `0197f000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
  type: 'project.state',
  created_at: '2026-01-01T00:00:00.000Z',
  payload: { state: 'IDLE' },
});
const seqs = (log: { events: readonly WireEvent[] }): number[] => log.events.map(({ seq }) => seq);

describe('addEvents', () => {
  it('WEB-6 keeps events in order and none twice, whatever the order they come in', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 })), (batches) => {
        const log = batches.reduce((held, batch) => addEvents(held, batch.map(event)), EMPTY_LOG);
        const expected = [...new Set(batches.flat())].sort((a, b) => a - b);
        expect(seqs(log)).toEqual(expected);
        const missing = gapsOf(log).flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, at) => from + at),
        );
        expect([...expected, ...missing].sort((a, b) => a - b)).toEqual(
          expected.length === 0
            ? []
            : Array.from(
                { length: (expected.at(-1) ?? 0) - (expected[0] ?? 0) + 1 },
                (_, at) => (expected[0] ?? 0) + at,
              ),
        );
      }),
    );
  });

  it('WEB-7 knows the hole between what it holds and what came after it', () => {
    const log = addEvents(addEvents(EMPTY_LOG, [event(3), event(4)]), [event(9)]);
    expect(gapsOf(log)).toEqual([{ from: 5, to: 8 }]);
    expect([oldestSeq(log), newestSeq(log)]).toEqual([3, 9]);
  });

  it('WEB-7 takes a page for what it stands for, so that a hole that the server cannot fill is not asked for again', () => {
    const log = addEvents(addEvents(EMPTY_LOG, [event(3), event(9)]), [event(6)], { from: 4, to: 8 });
    expect(gapsOf(log)).toEqual([]);
  });

  it('gives the same log back when nothing is new', () => {
    const log = addEvents(EMPTY_LOG, [event(1), event(2)]);
    expect(addEvents(log, [event(2)])).toBe(log);
  });

  it('WEB-8 knows that it begins at the first event', () => {
    expect(addEvents(EMPTY_LOG, [event(2)]).reachesStart).toBe(false);
    expect(addEvents(EMPTY_LOG, [event(1)]).reachesStart).toBe(true);
    expect(markStart(addEvents(EMPTY_LOG, [event(2)])).reachesStart).toBe(true);
  });
});
