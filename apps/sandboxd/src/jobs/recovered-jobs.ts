// Jobs that an earlier boot left on disk. Their output can still be read; an end that was not seen is said to be lost.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessExit, isProcessId } from '#sandbox/wire';
import { Spool, type SpoolLimits } from '../spool/spool.js';
import { type JobRecord, readRecord, writeRecord } from './job-record.js';

const LOST: ProcessExit = { code: null, signal: null, outOfMemory: false, lost: true };

export interface RecoveredJob {
  folder: string;
  record: JobRecord;
  spool: Spool;
}

export function recoverJobs(root: string, limits: SpoolLimits): RecoveredJob[] {
  const recovered: RecoveredJob[] = [];
  for (const name of readdirSync(root).filter(isProcessId)) {
    const folder = join(root, name);
    const found = readRecord(folder);
    if (found === 'absent') {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    const record = found === 'unreadable' ? unknownRecord(name) : found;
    if (record.exit === null) {
      record.exit = LOST;
      writeRecord(folder, record);
    }
    recovered.push({ folder, record, spool: Spool.recover(folder, limits) });
  }
  return recovered;
}

const unknownRecord = (processId: string): JobRecord => ({
  processId,
  bootId: '',
  pid: null,
  epoch: 0,
  startedAtMs: 0,
  exit: null,
  exitedAtMs: null,
  inputKeys: [],
});
