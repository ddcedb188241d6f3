// The judge of the ledger must see each kind of fault, or a promise could break unnoticed.
import fc from 'fast-check';
import { type Entry, judgeLedger } from './ledger.ts';

const CLEAN = { lost: [], twice: [], outOfOrder: [], overlapping: [] };
const inMain = (...ids: string[]): Entry[] => ids.map((id) => ({ id, lane: 'main' }));
const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('');

describe('judgeLedger', () => {
  it('CHS-3 finds nothing in a lane that ran in order, beside others', () => {
    const expected = [...inMain('a', 'b'), { id: 'side', lane: 'other' }, { id: 'own', lane: undefined }];
    expect(judgeLedger(text('+a', '+side', '-a', '+own', '+b', '-side', '-b', '-own'), expected)).toEqual(CLEAN);
  });

  it('CHS-3 finds what never began and what never ended', () => {
    expect(judgeLedger(text('+a'), inMain('a', 'b')).lost).toEqual(['a', 'b']);
  });

  it('CHS-3 finds what was executed twice, and what nobody was promised', () => {
    const { twice } = judgeLedger(text('+a', '-a', '+a', '-a', '+ghost', '-ghost'), inMain('a'));
    expect(twice).toEqual(['a', 'ghost']);
  });

  it('CHS-3 finds what ran before its turn', () => {
    expect(judgeLedger(text('+b', '-b', '+a', '-a'), inMain('a', 'b')).outOfOrder).toEqual(['a']);
  });

  it('CHS-3 finds what began while another of its lane ran', () => {
    expect(judgeLedger(text('+a', '+b', '-a', '-b'), inMain('a', 'b')).overlapping).toEqual(['b']);
  });

  it('CHS-3 finds any fault that is made in a clean ledger', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const clean = ids.flatMap((id) => [`+${id}`, `-${id}`]);
    const wrong = (lines: readonly string[]): boolean =>
      Object.values(judgeLedger(text(...lines), inMain(...ids))).some((found: string[]) => found.length > 0);
    expect(wrong(clean)).toBe(false);
    const at = fc.integer({ min: 0, max: clean.length - 1 });
    fc.assert(fc.property(at, (index) => expect(wrong(clean.filter((_, other) => other !== index))).toBe(true)));
    fc.assert(
      fc.property(at, at, (index, place) => expect(wrong(clean.toSpliced(place, 0, clean[index] ?? ''))).toBe(true)),
    );
    fc.assert(
      fc.property(at, at, (one, other) => {
        fc.pre(one !== other);
        const swapped = clean.with(one, clean[other] ?? '').with(other, clean[one] ?? '');
        expect(wrong(swapped)).toBe(true);
      }),
    );
  });
});
