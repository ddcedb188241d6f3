import type { ProcessInfo, ProcessRecord } from '#domain';
import { newId } from '#kernel';
import { compareProcesses } from './compare-processes.js';

const info = (processId: string, state: 'running' | 'exited', descendants = 0): ProcessInfo =>
  ({ processId, state, descendants, epoch: 1, exit: null }) as unknown as ProcessInfo;
const row = (processId: string): ProcessRecord => ({ processId, state: 'live' }) as unknown as ProcessRecord;

describe('compareProcesses', () => {
  it('ENG-44 kills a process without a row, and leaves one with a row alone', () => {
    const [wild, known] = [newId(), newId()];
    const infos = [info(wild, 'running'), info(known, 'running')];
    const repairs = compareProcesses({ infos, rows: [row(known)], attended: false });
    expect(repairs).toEqual({ kill: [infos[0]], forget: [], ended: [] });
  });

  it('ENG-44 forgets what is over and written down, unless something of it still runs', () => {
    const [over, leaves] = [info(newId(), 'exited'), info(newId(), 'exited', 2)];
    expect(compareProcesses({ infos: [over, leaves], rows: [], attended: false })).toEqual({
      kill: [],
      forget: [over],
      ended: [],
    });
  });

  it('ENG-44 ends a row whose process is over or gone', () => {
    const [over, gone] = [newId(), newId()];
    const infos = [info(over, 'exited')];
    const { ended } = compareProcesses({ infos, rows: [row(over), row(gone)], attended: false });
    expect(ended).toEqual([
      { processId: over, info: infos[0] },
      { processId: gone, info: undefined },
    ]);
  });

  it('ENG-44 leaves to a driver what it is at work with', () => {
    const [over, gone] = [newId(), newId()];
    const infos = [info(over, 'exited'), info(newId(), 'exited')];
    const rows = [row(over), row(gone)];
    expect(compareProcesses({ infos, rows, attended: true })).toEqual({ kill: [], forget: [], ended: [] });
  });
});
