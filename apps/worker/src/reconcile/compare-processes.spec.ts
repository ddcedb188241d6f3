import type { ProcessInfo, ProcessRecord } from '#domain';
import { newId } from '#kernel';
import { compareProcesses, type ProcessComparison, type RowReading } from './compare-processes.js';

const info = (processId: string, state: 'running' | 'exited', descendants = 0): ProcessInfo =>
  ({ processId, state, descendants, epoch: 1, exit: null }) as unknown as ProcessInfo;
const row = (processId: string, more: Partial<ProcessRecord> = {}): ProcessRecord =>
  ({ processId, state: 'live', epoch: 1, ...more }) as unknown as ProcessRecord;
const reading = (rows: ProcessRecord[], attended = false): RowReading => ({ rows, attended });
const nothing = { kill: [], forget: [], ended: [], started: [] };

/** Nothing has changed between the two readings. */
const compareQuiet = (infos: ProcessInfo[], rows: ProcessRecord[], attended = false) =>
  compareProcesses({ before: reading(rows, attended), infos, after: reading(rows, attended) });

describe('compareProcesses', () => {
  it('ENG-44 kills a process without a row, and leaves one with a row alone', () => {
    const [wild, known] = [newId(), newId()];
    const infos = [info(wild, 'running'), info(known, 'running')];
    expect(compareQuiet(infos, [row(known)])).toEqual({ ...nothing, kill: [infos[0]] });
  });

  it('ENG-44 forgets what is over and written down, unless something of it still runs', () => {
    const [over, leaves] = [info(newId(), 'exited'), info(newId(), 'exited', 2)];
    expect(compareQuiet([over, leaves], [])).toEqual({ ...nothing, forget: [over] });
  });

  it('ENG-44 ends a row whose process is over or gone', () => {
    const [over, gone] = [row(newId()), row(newId(), { state: 'starting' })];
    const infos = [info(over.processId, 'exited')];
    expect(compareQuiet(infos, [over, gone]).ended).toEqual([
      { row: over, info: infos[0] },
      { row: gone, info: undefined },
    ]);
  });

  it('ENG-44 leaves to a driver what it is at work with', () => {
    const [over, gone] = [row(newId()), row(newId())];
    const infos = [info(over.processId, 'exited'), info(newId(), 'exited')];
    expect(compareQuiet(infos, [over, gone], true)).toEqual(nothing);
  });

  it('ENG-47 makes live what is starting, runs, and is nobody’s to attend to', () => {
    const [starting, live] = [row(newId(), { state: 'starting' }), row(newId())];
    const infos = [info(starting.processId, 'running'), info(live.processId, 'running')];
    expect(compareQuiet(infos, [starting, live])).toEqual({
      ...nothing,
      started: [{ row: starting, info: infos[0] }],
    });
    expect(compareQuiet(infos, [starting, live], true)).toEqual(nothing);
  });

  const old = row(newId());
  const raised = { ...old, epoch: 2 };
  const running = info(old.processId, 'running');
  it.each<[string, ProcessComparison]>([
    ['began while it was looked', { before: reading([]), infos: [], after: reading([old]) }],
    ['was given to another run meanwhile', { before: reading([old]), infos: [], after: reading([raised]) }],
    ['was at work before', { before: reading([old], true), infos: [], after: reading([old]) }],
    ['is at work since', { before: reading([old]), infos: [], after: reading([old], true) }],
    ['was ended by its run meanwhile', { before: reading([old]), infos: [], after: reading([]) }],
    ['runs, with a row since', { before: reading([]), infos: [running], after: reading([old]) }],
    ['runs, with a row until now', { before: reading([old]), infos: [running], after: reading([]) }],
  ])('ENG-46 leaves alone what %s', (_what, comparison) => {
    expect(compareProcesses(comparison)).toEqual(nothing);
  });
});
