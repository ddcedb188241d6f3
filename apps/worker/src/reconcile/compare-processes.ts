// Processes of a sandbox against their rows (R3): pure, so that every mixture can be tried. The rows are read before and after the
// processes, because both change while one looks: only what both readings agree on is acted upon.
import type { ProcessInfo, ProcessRecord } from '#domain';

/** What Postgres and this worker say of one sandbox at one moment. */
export interface RowReading {
  /** Rows of this sandbox that say `starting` or `live`. */
  rows: ProcessRecord[];
  /** A run of this sandbox's project is at work, or will be: its driver knows better. */
  attended: boolean;
}

export interface ProcessComparison {
  before: RowReading;
  /** All processes of the sandbox, asked for between the two readings. */
  infos: ProcessInfo[];
  after: RowReading;
}

export interface ProcessRepairs {
  /** Running, but nobody's: a row is made before its process starts, so one in either reading is somebody's. */
  kill: ProcessInfo[];
  /** Over, written down, and without anything left behind. */
  forget: ProcessInfo[];
  /** Over, but not written down. `info` undefined: nobody knows how. */
  ended: { row: ProcessRecord; info: ProcessInfo | undefined }[];
  /** Running, but whoever started them did not live to say so. */
  started: { row: ProcessRecord; info: ProcessInfo }[];
}

export function compareProcesses({ before, infos, after }: ProcessComparison): ProcessRepairs {
  const byId = new Map(infos.map((info) => [info.processId, info]));
  const rowIds = new Set([...before.rows, ...after.rows].map(({ processId }) => processId));
  const nobodys = infos.filter(({ processId }) => !rowIds.has(processId));
  const kill = nobodys.filter(({ state }) => state === 'running');
  if (before.attended || after.attended) return { kill, forget: [], ended: [], started: [] };
  const forget = nobodys.filter(({ state, descendants = 0 }) => state === 'exited' && descendants === 0);
  const epochs = new Map(before.rows.map(({ processId, epoch }) => [processId, epoch]));
  const settled = after.rows.filter(({ processId, epoch }) => epochs.get(processId) === epoch);
  const ended: ProcessRepairs['ended'] = [];
  const started: ProcessRepairs['started'] = [];
  for (const row of settled) {
    const info = byId.get(row.processId);
    if (info?.state !== 'running') ended.push({ row, info });
    else if (row.state === 'starting') started.push({ row, info });
  }
  return { kill, forget, ended, started };
}
