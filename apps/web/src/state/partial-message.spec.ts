// Messages that are being written, put together from deltas.
import fc from 'fast-check';
import { addDelta, isSettled, type Partials, partialText, settle } from './partial-message.js';
import { deltaOf, eventsOf, finished, queued, said, started } from './sample-run.js';

const textOf = (partials: Partials): string[] => partials.map(partialText);

describe('addDelta', () => {
  it('WEB-9 shows a text once, however its deltas are cut, repeated and reordered', () => {
    const shuffled = fc
      .tuple(fc.string({ minLength: 1, maxLength: 30 }), fc.array(fc.nat(30), { maxLength: 6 }))
      .chain(([text, cuts]) => {
        const edges = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort((a, b) => a - b);
        const deltas = edges.slice(0, -1).map((from, at) => deltaOf(1, 'm', 0, from, text.slice(from, edges[at + 1])));
        const repeated = fc.array(fc.constantFrom(...deltas), { maxLength: 5 });
        return repeated
          .chain((again) => fc.shuffledSubarray([...deltas, ...again], { minLength: deltas.length + again.length }))
          .map((order) => ({ text, order }));
      });
    fc.assert(
      fc.property(shuffled, ({ text, order }) => {
        expect(textOf(order.reduce<Partials>(addDelta, []))).toEqual([text]);
      }),
    );
  });

  it('WEB-9 shows a part that did not arrive as an ellipsis', () => {
    const partials = [deltaOf(1, 'm', 0, 0, 'Hello '), deltaOf(1, 'm', 0, 9, 'ld'), deltaOf(1, 'm', 0, 11, '!')];
    expect(textOf(partials.reduce<Partials>(addDelta, []))).toEqual(['Hello …ld!']);
    expect(textOf(addDelta([], deltaOf(1, 'm', 0, 4, 'tail')))).toEqual(['…tail']);
  });

  it('WEB-9 drops what was given up when the same run begins another message', () => {
    const first = addDelta(addDelta([], deltaOf(1, 'm1', 0, 0, 'Half')), deltaOf(2, 'other', 0, 0, 'Other run'));
    expect(textOf(addDelta(first, deltaOf(1, 'm2', 0, 0, 'Anew')))).toEqual(['Other run', 'Anew']);
  });

  it('keeps the blocks of one message apart', () => {
    const partials = [deltaOf(1, 'm', 0, 0, 'a'), deltaOf(1, 'm', 1, 0, 'b'), deltaOf(1, 'm', 0, 1, 'c')];
    expect(textOf(partials.reduce<Partials>(addDelta, []))).toEqual(['ac', 'b']);
  });
});

describe('settle', () => {
  const partials = addDelta(addDelta([], deltaOf(1, 'm', 0, 0, 'a')), deltaOf(1, 'm', 1, 0, 'b'));

  it('WEB-9 drops exactly the block whose event came', () => {
    expect(textOf(settle(partials, eventsOf([said(1, 'm', 0, 'a')])))).toEqual(['b']);
    expect(textOf(settle(partials, eventsOf([said(1, 'other', 0, 'a')])))).toEqual(['a', 'b']);
  });

  it('WEB-9 drops everything of a run that ended', () => {
    expect(settle(partials, eventsOf([finished(1, { status: 'failed' })]))).toEqual([]);
    expect(settle(partials, eventsOf([finished(2)]))).toBe(partials);
  });
});

describe('isSettled', () => {
  const events = eventsOf([queued(1), started(1), said(1, 'm', 0, 'a'), queued(2), started(2)]);

  it('WEB-9 knows a delta that comes after its event', () => {
    expect(isSettled(events, deltaOf(1, 'm', 0, 0, 'a'))).toBe(true);
    expect(isSettled(events, deltaOf(1, 'm', 1, 0, 'b'))).toBe(false);
    expect(isSettled(events, deltaOf(2, 'm', 0, 0, 'a'))).toBe(false);
  });
});
