// Who owns a process: by mark, by ancestors, or nobody.
import fc from 'fast-check';
import { LaunchMarks, markBytes } from './launch-mark.js';
import { type OwnedTree, findOwners } from './process-owner.js';
import { type ProcessEntry, parseEntry } from './process-table.js';

const SUPERVISOR = 7;
const marks = new LaunchMarks();
const job = { name: 'job', mainPid: 20, mark: marks.take() };
const other = { name: 'other', mainPid: 30, mark: marks.take() };

const entry = (pid: number, ppid: number, mark: number | null = null, state = 'S'): ProcessEntry => ({
  pid,
  ppid,
  state,
  processGroup: pid,
  session: pid,
  residentLimit: mark === null ? null : markBytes(mark),
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
        for (const [{ residentLimit }, owner] of found) {
          if (residentLimit === markBytes(job.mark)) expect(owner).toBe(job);
        }
      }),
    );
  });
});

describe('a line of the process table', () => {
  it('SBX-16 is read right when the name of the program holds brackets and spaces', () => {
    const stat = '12 (a) S 1 (x) y) T 20 21 22 0 -1 4194304';
    const limits =
      'Limit  Soft  Hard  Units\nMax resident set          4503599627370496     4503599627371520     bytes\n';
    expect(parseEntry(12, stat, limits)).toEqual({
      pid: 12,
      ppid: 20,
      processGroup: 21,
      session: 22,
      state: 'T',
      residentLimit: 4503599627371520,
    });
    expect(
      parseEntry(1, '1 (x) S 0 1 1', 'Max resident set          unlimited            unlimited            bytes'),
    ).toMatchObject({
      residentLimit: null,
    });
  });
});
