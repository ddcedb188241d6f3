// Processes of a sandbox against their rows (R3): pure, so that every mixture can be tried.
import type { ProcessInfo, ProcessRecord } from '#domain';

export interface ProcessComparison {
  /** Processes of one sandbox. Read before `rows`. */
  infos: ProcessInfo[];
  /** Rows of this sandbox that say `starting` or `live`. */
  rows: ProcessRecord[];
  /** A run of this sandbox's project is at work, or will be: its driver knows better. */
  attended: boolean;
}

export interface ProcessRepairs {
  /** Running, but nobody's. */
  kill: ProcessInfo[];
  /** Over, written down, and without anything left behind. */
  forget: ProcessInfo[];
  /** Over, but not written down. `exit` undefined: nobody knows how. */
  ended: { processId: string; info: ProcessInfo | undefined }[];
}

export function compareProcesses({ infos, rows, attended }: ProcessComparison): ProcessRepairs {
  const byId = new Map(infos.map((info) => [info.processId, info]));
  const rowIds = new Set(rows.map(({ processId }) => processId));
  const nobodys = infos.filter(({ processId }) => !rowIds.has(processId));
  const over = rows.filter(({ processId }) => byId.get(processId)?.state !== 'running');
  return {
    kill: nobodys.filter(({ state }) => state === 'running'),
    forget: attended ? [] : nobodys.filter(({ state, descendants = 0 }) => state === 'exited' && descendants === 0),
    ended: attended ? [] : over.map(({ processId }) => ({ processId, info: byId.get(processId) })),
  };
}
