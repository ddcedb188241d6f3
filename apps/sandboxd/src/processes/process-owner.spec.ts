// Who owns a process: by mark, by ancestors, or nobody.
import fc from 'fast-check';
import { LaunchMarks, type MarkLimits, canStemFrom, markLimits, markOf } from './launch-mark.js';
import { type OwnedTree, findOwners } from './process-owner.js';
import { type ProcessEntry, isAlive, parseEntry } from './process-table.js';

const SUPERVISOR = 7;
const marks = new LaunchMarks();
const job = { name: 'job', mainPid: 20, mark: marks.take() };
const other = { name: 'other', mainPid: 30, mark: marks.take() };

const UNMARKED: MarkLimits = { resident: null, locks: null };
const entry = (pid: number, ppid: number, mark: number | null = null, state = 'S'): ProcessEntry => ({
  pid,
  ppid,
  state,
  processGroup: pid,
  session: pid,
  threads: 1,
  limits: mark === null ? UNMARKED : markLimits(mark),
});
/** Has lowered the limit of its resident set. */
const lowered = (pid: number, ppid: number, mark: number): ProcessEntry => ({
  ...entry(pid, ppid),
  limits: { ...markLimits(mark), resident: 1024 },
});
const system = [entry(1, 0), entry(SUPERVISOR, 1)];

function owners(...entries: ProcessEntry[]): Record<number, string> {
  const found = findOwners([...system, ...entries], [job, other], SUPERVISOR);
  const name = (owner: 'stray' | 'outside' | (OwnedTree & { name: string })): string =>
    typeof owner === 'string' ? owner : owner.name;
  return Object.fromEntries([...found].map(([{ pid }, owner]) => [pid, name(owner)]));
}

describe('the owner of a process', () => {
  it('SBX-16 is the job whose mark it carries, whoever its parent is', () => {
    expect(owners(entry(40, 1, job.mark), entry(41, 30, job.mark))).toMatchObject({ 40: 'job', 41: 'job' });
  });

  it('SBX-16 is the job of its nearest ancestor when it lost the mark', () => {
    expect(owners(entry(20, SUPERVISOR, job.mark), entry(40, 20), entry(41, 40))).toMatchObject({
      40: 'job',
      41: 'job',
    });
  });

  it('SBX-16 is the job that is just starting it, before the mark is there', () => {
    expect(owners(entry(20, SUPERVISOR))).toMatchObject({ 20: 'job' });
  });

  it('SBX-16 is nobody when it lost the mark and every parent', () => {
    expect(owners(entry(40, 1), entry(41, 40))).toMatchObject({ 40: 'stray', 41: 'stray' });
  });

  it('SBX-16 is nobody here for the init process, sandboxd, its own children and docker exec', () => {
    expect(owners(entry(50, SUPERVISOR), entry(60, 0), entry(61, 60))).toEqual({
      1: 'outside',
      [SUPERVISOR]: 'outside',
      50: 'outside',
      60: 'outside',
      61: 'outside',
    });
  });

  it('SBX-34 is nobody when a job made it a child of sandboxd and it gave up its mark', () => {
    const escaped = lowered(40, SUPERVISOR, job.mark);
    expect(owners(escaped, { ...escaped, pid: 41, ppid: 40 })).toMatchObject({ 40: 'stray', 41: 'stray' });
  });

  it('SBX-34 is nobody here for a job that is just being started, and not yet known', () => {
    expect(owners(entry(40, SUPERVISOR, marks.take()))).toMatchObject({ 40: 'outside' });
  });

  it('SBX-16 does not matter for a zombie', () => {
    expect(owners(entry(40, 1, job.mark, 'Z'))).not.toHaveProperty('40');
  });

  it('SBX-16 is found for any reading of the table, rings of reused pids included', () => {
    const pid = fc.integer({ min: 2, max: 12 });
    const any = fc.record({ pid, ppid: fc.nat({ max: 12 }), mark: fc.constantFrom(null, job.mark, other.mark, 5) });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 12 }), (list) => {
        const entries = list.map(({ pid: id, ppid, mark }) => entry(id, ppid, mark));
        const found = findOwners([...system, ...entries], [job, other], SUPERVISOR);
        expect(found.size).toBe(system.length + entries.length);
        for (const [{ limits }, owner] of found) {
          if (markOf(limits) === job.mark) expect(owner).toBe(job);
        }
      }),
    );
  });
});

describe('the mark of a job', () => {
  const mark = fc.integer({ min: 0, max: 2 ** 40 });

  it('SBX-34 is read as what it was', () => {
    fc.assert(fc.property(mark, (number) => expect(markOf(markLimits(number))).toBe(number)));
  });

  it('SBX-34 becomes no other job’s by lowering limits, and what is left of it still says whose it may be', () => {
    fc.assert(
      fc.property(mark, fc.maxSafeNat(), fc.maxSafeNat(), (number, resident, locks) => {
        const own = markLimits(number);
        const left = { resident: Math.min(own.resident, resident), locks: Math.min(own.locks, locks) };
        expect([null, number]).toContain(markOf(left));
        expect(canStemFrom(left, number)).toBe(true);
      }),
    );
  });

  it('SBX-34 that has one limit of another job is none', () => {
    expect(markOf({ resident: markLimits(1).resident, locks: markLimits(2).locks })).toBeNull();
    expect(markOf({ resident: markLimits(1).resident, locks: null })).toBeNull();
  });

  it('SBX-34 is not where a process comes from that has more than it', () => {
    expect(canStemFrom({ resident: 1024, locks: markLimits(1).locks }, 2)).toBe(false);
    expect(canStemFrom(UNMARKED, 1)).toBe(false);
  });
});

describe('a line of the process table', () => {
  it('SBX-16 is read right when the name of the program holds brackets and spaces', () => {
    const stat = '12 (a) S 1 (x) y) T 20 21 22 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 5 0';
    const limits =
      'Limit  Soft  Hard  Units\nMax resident set          4503599627370496     4503599627371520     bytes\n' +
      'Max file locks            8796093022206        8796093022207        locks     \n';
    expect(parseEntry(12, stat, limits)).toEqual({
      pid: 12,
      ppid: 20,
      processGroup: 21,
      session: 22,
      state: 'T',
      threads: 5,
      limits: { resident: 4503599627371520, locks: 8796093022207 },
    });
    expect(
      parseEntry(1, '1 (x) S 0 1 1', 'Max resident set          unlimited            unlimited            bytes'),
    ).toMatchObject({
      limits: UNMARKED,
    });
  });

  it('SBX-34 tells a process whose first thread alone has ended from one that has ended', () => {
    const zombie = (threads: number) => parseEntry(1, `1 (x) Z 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 ${threads} 0`, '');
    expect([1, 2].map((threads) => isAlive(zombie(threads)))).toEqual([false, true]);
  });
});
